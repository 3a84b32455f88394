"""Which link first? Scorers, trails and admissions, and the strategies made of them."""
