"""Which of the near entries a save shows: the nearest by meaning, and the one that shares most words."""

from commonplace.flows.memory.neighbours import MOST, Near, most_telling
from commonplace.model import Fact
from commonplace.model.fact import Neighbour


def near(id: str, cosine: float | None, words: float = 0.0, *, is_same: bool = False, is_own: bool = False) -> Near:
    fact = Fact(id=id, path=f"{id}.md", line=0, origin="entry", text="")
    return Near(Neighbour(fact, cosine, is_same), words, is_own)


def ids(*given: Near) -> str:
    return "".join(each.fact.id for each in most_telling(given))


CROWD = tuple(near(id, 0.9 - place / 10) for place, id in enumerate("abcdef"))


def test_the_last_place_is_of_the_entry_that_shares_most_words() -> None:
    """It need not be near by meaning."""
    assert ids(*CROWD, near("w", 0.1, 0.3), near("x", None, 0.4)) == "abcdx"
    assert ids(*CROWD, near("b2", 0.8, 0.4)) == "ab2bcd"
    assert len(ids(*CROWD)) == MOST


def test_what_may_be_the_same_and_what_has_the_same_subject_comes_first() -> None:
    """Whatever is nearer."""
    assert ids(*CROWD, near("o", 0.1, is_own=True), near("s", 0.1, is_same=True)) == "soabc"


def test_without_an_encoder_the_order_is_that_of_shared_words() -> None:
    """All cosines are unknown."""
    assert ids(*(near(id, None, words) for id, words in zip("abcdefg", (1, 7, 3, 5, 2, 6, 4), strict=True))) == "bfdgc"
