"""The classifier of clauses, each author left out in turn: how much it finds, and how much of that is right.

The examples of `extraction/examples/clauses.jsonl` come from several authors who wrote without sight of the program.
For each author the classifier is fitted on the others and weighs that author's clauses. The table has precision and
recall for several thresholds; the one that the rules use is marked.

Run it as `python bench/clauses.py`.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))
from bench import figures
from bench.figures import say
from bench.memory_vault import settings_of
from bench.quality_tables import table

from commonplace.app.encoders import make_encoders
from commonplace.encoders.base import EncoderProvider
from commonplace.extraction.clause_classifier import LabelledClause, fit_classifier
from commonplace.extraction.rules import LIKELY
from commonplace.flows.learn.extract import labelled_clauses
from commonplace.settings.load import load_settings

THRESHOLDS = (0.5, 0.6, 0.7, 0.8, LIKELY, 0.9, 0.95)


def main() -> None:
    """Print the tables."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--model", type=Path, default=figures.MODEL, help="folder with the encoder's weights")
    chosen = options.parse_args()
    settings = load_settings(flags=settings_of(figures.with_model(chosen.model), [])).settings
    encoder = make_encoders(settings.embedding).current
    if encoder is None:
        sys.exit("no encoder: run `make setup`, or name the folder of its weights with --model")
    examples = labelled_clauses()
    say(f"encoding {len(examples)} clauses")
    vectors, replies = _vectors(examples, encoder)
    weights = np.zeros(len(examples))
    authors = np.array([each.author for each in examples])
    for author in sorted(set(authors)):
        own = authors == author
        others = [each for each, is_own in zip(examples, own, strict=True) if not is_own]
        classifier = fit_classifier(others, vectors[~own], replies[~own])
        clauses = [each.clause for each, is_own in zip(examples, own, strict=True) if is_own]
        weights[own] = classifier.probabilities(clauses, vectors[own], replies[own])
    kept = np.array([each.keep for each in examples])
    print("\n".join(table(("threshold", "precision", "recall", "by author"), _rows(weights, kept, authors))))


def _vectors(examples: Sequence[LabelledClause], encoder: EncoderProvider) -> tuple[np.ndarray, np.ndarray]:
    texts = [*dict.fromkeys(text for each in examples for text in (each.clause.text, each.clause.before) if text)]
    known = dict(zip(texts, np.asarray(encoder.encode(texts), dtype=np.float64), strict=True))
    nothing = np.zeros(encoder.dim)
    return (
        np.array([known[each.clause.text] for each in examples]),
        np.array([known.get(each.clause.before, nothing) for each in examples]),
    )


def _rows(weights: np.ndarray, kept: np.ndarray, authors: np.ndarray) -> list[tuple[str, str, str, str]]:
    rows = []
    for threshold in THRESHOLDS:
        taken = weights >= threshold
        shares = [
            f"{author} {kept[taken & (authors == author)].mean():.2f}"
            for author in sorted(set(authors))
            if (taken & (authors == author)).any()
        ]
        mark = " (in use)" if threshold == LIKELY else ""
        precision, recall = kept[taken].mean(), kept[taken].sum() / kept.sum()
        rows.append((f"{threshold}{mark}", f"{precision:.3f}", f"{recall:.3f}", ", ".join(shares)))
    return rows


if __name__ == "__main__":
    main()
