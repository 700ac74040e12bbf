"""Labelled clauses that the classifier of clauses is fitted on (`flows/learn/extract.py`)."""
