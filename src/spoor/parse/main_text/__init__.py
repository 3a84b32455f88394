"""What a page has to say, without what surrounds it: three ways to find it, and when it was published."""

from spoor.parse.main_text.best import best_text
from spoor.parse.main_text.extractor import Extractor, MainText
from spoor.parse.main_text.node_ratio import node_ratio_text
from spoor.parse.main_text.quick import quick_text

NODE_RATIO = Extractor(node_ratio_text)
"""As paper 002 does it."""
QUICK = Extractor(quick_text)
"""For every page of a crawl."""
BEST = Extractor(best_text)
"""For pages that are kept; ten times slower."""

__all__ = ["BEST", "NODE_RATIO", "QUICK", "Extractor", "MainText"]
