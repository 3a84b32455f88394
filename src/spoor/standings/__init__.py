"""What came of a contest: who leads and by how much, as tables, plots and a page."""
