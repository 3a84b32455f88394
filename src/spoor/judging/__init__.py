"""Judges of language, topic and ontology, their models, and the training of these."""
