"""The benchmark of changed values: what counts as right, and as a mistake in one memory."""

from collections.abc import Sequence

from bench import changes
from bench.changes import OWN_PAIRS, Pair, PairSet, score

PAIRS = PairSet(
    "pairs",
    (
        Pair("update", "Milan now works at Tatra.", "Milan works at Skoda."),
        Pair("duplicate", "The kiln, fired by Dunja.", "The kiln is fired by Dunja."),
        Pair("keep", "Speaks Slovak.", "Speaks Czech."),
    ),
    others=("The rowing club meets on Tuesdays.",),
)


class EqualCosines:
    """All texts are equally near."""

    def of(self, one: str, other: str) -> float:
        """The same for all."""
        return 0.8


def test_each_label_has_its_actions_and_only_its_own_target_is_right() -> None:
    """Of all that is known together, a new statement may touch the one that it is about."""
    scored = score(PAIRS, EqualCosines())  # type: ignore[arg-type]

    assert scored["labels"] == {"update": [1, 1], "duplicate": [1, 1], "keep": [1, 1]}
    assert (scored["known"], scored["statements"], scored["wrong"]) == (4, 3, [])


def test_a_statement_that_touches_another_one_is_counted() -> None:
    """What is kept must touch nothing at all."""
    pairs = PairSet("pairs", (Pair("keep", "Milan now works at Tatra.", "Milan works at Skoda."),))

    assert len(score(pairs, EqualCosines())["wrong"]) == 1  # type: ignore[arg-type]


def test_the_pairs_written_for_it_have_known_labels_and_occur_once() -> None:
    """Each line is a pair of its own."""
    (own,) = changes.read_sets(None)
    texts: Sequence[tuple[str, str]] = [(pair.text, pair.known) for pair in own.pairs]

    assert OWN_PAIRS.is_file()
    assert len(texts) == len({*texts})
    assert {pair.label for pair in own.pairs} == {"update", "duplicate", "keep"}
