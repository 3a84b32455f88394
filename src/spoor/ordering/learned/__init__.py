"""Parts used only by the strategy `learned`: features of links, online regression, hit rates, priors."""
