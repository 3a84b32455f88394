"""The parts of the strategy `learned` and of no other: features of links, online regression, hit rates, priors."""
