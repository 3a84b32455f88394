"""What is relevant? Judges of language, topic and ontology, the models behind them, and how these are trained."""
