"""Ranking what a search found; pure, no I/O.

- candidates   a chunk to rank, what each search mode scores, and the order of candidates
- score_modes  ranking in all modes but hybrid, explanations of scores, and why a search found nothing
- hybrid       ranking in the mode hybrid, by chunks and their documents, and the confidence of the result
- recency      of documents that speak of the same thing, the newer come earlier
- options      the settings `retrieval`, and the parts of hybrid ranking that can be left out
"""
