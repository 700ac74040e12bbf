"""Labelled clauses that the classifier of clauses is fitted on (`flows/learn/clause_weights.py`)."""
