"""How far a page is from a wanted one: layers by back links, clusters of pages, hidden Markov models of the way."""
