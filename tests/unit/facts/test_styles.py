"""Styles as notes, and which of them fits."""

import pytest

from commonplace.facts.styles import NEAR, choose, style_of
from commonplace.model import Style
from commonplace.notes import parse


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


@pytest.mark.requirement("V-06")
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
    assert choose(STYLES, message=message, topics=topics) == chosen


@pytest.mark.requirement("V-06")
def test_meaning_decides_where_no_context_fits_or_as_many_do() -> None:
    """But it does not weigh more than a context, and too far away is too far."""
    near = {"review": NEAR + 0.2, "formal": NEAR, "plain": 0.1}

    assert choose(STYLES, message="hm", near=near) == REVIEW
    assert choose(STYLES, message="for a customer", near=near) == FORMAL
    assert choose(STYLES, message="pull request of a customer", near=near) == REVIEW
    assert choose(STYLES, message="hm", near={"review": NEAR - 0.01}) == PLAIN


def test_no_style_is_chosen_where_none_fits_and_none_is_the_default() -> None:
    """Of two defaults the one that is nearer, else the first by path."""
    other = style("other", is_default=True)

    assert choose([], message="hm") is None
    assert choose([FORMAL, REVIEW], message="hm") is None
    assert choose([PLAIN, other], message="hm") == other
    assert choose([PLAIN, other], message="hm", near={"plain": 0.1}) == PLAIN
