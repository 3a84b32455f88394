"""Which link first? Scorers, trails and admissions, the strategies made of them, and how these are trained."""
