"""What is wanted as a net of concepts, words of one language in another, and which kind of page leads to which."""
