"""Topics of a message, the lock of a conversation, and styles."""

from time import thread_time
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pytest

from commonplace.facts.relevance import (
    DRIFT_MARGIN,
    MAX_TOPICS,
    STYLE_COSINE,
    TOPIC_COSINE,
    choose_style,
    infer_topics,
    style_of,
    update_lock,
)
from commonplace.model import Style, TopicLock
from commonplace.notes import parse

NOW, LATER = "2026-03-01T09:00:00Z", "2026-03-01T09:05:00Z"
LOCK = TopicLock("c", ("coding", "music"), NOW)


class Middle(NamedTuple):
    topic: str
    vector: npt.NDArray[np.float32]


def middles(**cosines: float) -> list[Middle]:
    """Middles of topics that have these cosines with the first axis."""
    return [Middle(topic, np.array([cosine, (1 - cosine**2) ** 0.5], np.float32)) for topic, cosine in cosines.items()]


MESSAGE = np.array([1, 0], np.float32)


@pytest.mark.requirement("V-09")
def test_a_message_is_about_the_topics_near_it_nearest_first() -> None:
    """Those beyond the threshold, with how near each is."""
    found = infer_topics(MESSAGE, middles(music=0.5, coding=0.8, health=TOPIC_COSINE - 0.01))

    assert [topic for topic, _ in found] == ["coding", "music"]
    assert [cosine for _, cosine in found] == [pytest.approx(0.8), pytest.approx(0.5)]


def test_a_message_is_about_few_topics_and_about_none_where_there_are_none() -> None:
    """Equally near ones in the order of their names."""
    found = infer_topics(MESSAGE, middles(e=0.5, d=0.5, c=0.5, b=0.5, a=0.4))

    assert [topic for topic, _ in found] == ["b", "c", "d"]
    assert len(found) == MAX_TOPICS
    assert infer_topics(MESSAGE, []) == ()
    assert infer_topics(MESSAGE, middles(far=0.0)) == ()


def test_a_thousand_topics_are_compared_in_far_less_than_50_milliseconds() -> None:
    """The quickest of five times, so that a busy machine does not count."""
    vectors = np.random.default_rng(7).normal(size=(1000, 384)).astype(np.float32)
    known = [Middle(str(number), vector) for number, vector in enumerate(vectors)]

    def seconds() -> float:
        start = thread_time()
        infer_topics(vectors[0], known)
        return thread_time() - start

    assert min(seconds() for _ in range(5)) < 0.02


@pytest.mark.requirement("V-10")
def test_the_first_message_about_something_locks_the_conversation() -> None:
    """What came before it about nothing locks nothing, and nothing has drifted."""
    nothing, _ = update_lock(None, (), conversation="c", at=NOW)

    assert nothing == TopicLock("c", (), NOW)
    assert update_lock(None, [("coding", 0.3)], conversation="c", at=NOW) == (TopicLock("c", ("coding",), NOW), False)
    assert update_lock(nothing, [("coding", 0.3)], conversation="c", at=LATER) == (
        TopicLock("c", ("coding",), LATER),
        False,
    )


@pytest.mark.requirement("V-10")
@pytest.mark.parametrize(
    "inferred",
    [
        (),
        (("coding", 0.5),),
        (("travel", 0.6), ("music", 0.3)),
        (("travel", TOPIC_COSINE + DRIFT_MARGIN / 2),),
    ],
    ids=["about nothing", "about a locked topic", "about a locked topic too", "barely about another"],
)
def test_the_lock_stays_while_a_message_is_not_clearly_about_others_alone(
    inferred: tuple[tuple[str, float], ...],
) -> None:
    """It keeps its moment."""
    assert update_lock(LOCK, inferred, conversation="c", at=LATER) == (LOCK, False)


def test_a_message_clearly_about_others_alone_moves_the_lock() -> None:
    """It has drifted, and the lock is new."""
    inferred = [("travel", TOPIC_COSINE + DRIFT_MARGIN), ("family", TOPIC_COSINE)]

    assert update_lock(LOCK, inferred, conversation="c", at=LATER) == (
        TopicLock("c", ("travel", "family"), LATER),
        True,
    )


def style_in(text: str, path: str = "Agent/styles/mail.md") -> Style | None:
    return style_of(parse(text.encode(), path=path, mtime=0.0))


def style(name: str, *contexts: str, is_default: bool = False) -> Style:
    return Style(name, f"Agent/styles/{name}.md", contexts, is_default, f"How to be {name}.")


FORMAL = style("formal", "customer", "tax office", "finance")
REVIEW = style("review", "coding", "pull request")
PLAIN = style("plain", is_default=True)
STYLES = [FORMAL, PLAIN, REVIEW]


@pytest.mark.requirement("V-06")
def test_a_note_under_styles_is_a_style_with_its_contexts() -> None:
    """Contexts and topics count alike, each once."""
    keys = "title: Formal mail\ncontexts: [customer, tax office]\ntopics: ['#finance', customer]\ndefault: true"
    text = f"---\n{keys}\n---\n\nFull sentences.\n"

    assert style_in(text) == Style(
        name="Formal mail",
        path="Agent/styles/mail.md",
        contexts=("customer", "tax office", "finance"),
        is_default=True,
        text="Full sentences.",
    )


@pytest.mark.parametrize(
    ("frontmatter", "contexts"),
    [
        ("contexts: letters, mail", ("letters", "mail")),
        ("contexts: [1, ' ', '#', letters]", ("letters",)),
        ("contexts: {a: b}", ()),
        ("topics:", ()),
        ("default: 'yes'", ()),
    ],
)
def test_what_a_person_wrote_otherwise_is_taken_as_far_as_it_can_be(
    frontmatter: str, contexts: tuple[str, ...]
) -> None:
    """Names between commas are names; what is no text is no name, and only `true` makes a default."""
    found = style_in(f"---\n{frontmatter}\n---\nShort.\n")

    assert found == Style("mail", "Agent/styles/mail.md", contexts, False, "Short.")


@pytest.mark.parametrize("path", ["Notes/mail.md", "Agent/styles/_index.md", "Agent/styles.md"])
def test_a_note_elsewhere_is_no_style(path: str) -> None:
    """Nor is the list of what the folder holds."""
    assert style_in("Short.\n", path) is None


@pytest.mark.parametrize(
    ("message", "topics", "chosen"),
    [
        ("Answer the Tax-Office, please", (), FORMAL),
        ("look at it", ("Coding",), REVIEW),
        ("a pull request for a customer at the tax office", (), FORMAL),
        ("a pull request of a customer", ("coding",), REVIEW),
        ("what about taxes in the office", (), PLAIN),
        ("", (), PLAIN),
    ],
)
def test_the_style_with_most_contexts_in_the_message_or_its_topics_is_chosen(
    message: str, topics: tuple[str, ...], chosen: Style
) -> None:
    """Whole words, in any case; where none fits, the default."""
    assert choose_style(STYLES, message=message, topics=topics) == chosen


def test_meaning_decides_where_no_context_fits_or_as_many_do() -> None:
    """But it does not weigh more than a context, and too far away is too far."""
    near = {"review": STYLE_COSINE + 0.2, "formal": STYLE_COSINE, "plain": 0.1}

    assert choose_style(STYLES, message="hm", near=near) == REVIEW
    assert choose_style(STYLES, message="for a customer", near=near) == FORMAL
    assert choose_style(STYLES, message="pull request of a customer", near=near) == REVIEW
    assert choose_style(STYLES, message="hm", near={"review": STYLE_COSINE - 0.01}) == PLAIN


def test_no_style_is_chosen_where_none_fits_and_none_is_the_default() -> None:
    """Of two defaults the one that is nearer, else the first by path."""
    other = style("other", is_default=True)

    assert choose_style([], message="hm") is None
    assert choose_style([FORMAL, REVIEW], message="hm") is None
    assert choose_style([PLAIN, other], message="hm") == other
    assert choose_style([PLAIN, other], message="hm", near={"plain": 0.1}) == PLAIN
