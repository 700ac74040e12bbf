"""Laws of operations on sections: other bytes stay, once is enough, and nothing raises."""

from hypothesis import given
from hypothesis import strategies as st

from commonplace.model.profile import OPERATION_NAMES
from commonplace.notes.section_operations import apply_operations, statement_keys

WORDS = st.sampled_from(["likes tea", "Likes tea.", "has a cat", "is 40", "lives in York", "écrit", "a b c"])
HEADINGS = st.sampled_from(["Food", "Home", "Work"])
LINES = st.one_of(
    WORDS.map(lambda text: f"- {text}"),
    WORDS.map(lambda text: f"  * {text}"),
    WORDS,
    HEADINGS.map(lambda text: f"## {text}"),
    HEADINGS.map(lambda text: f"### {text}  "),
    st.sampled_from(
        ["", "", "# Me", "```", "<!-- x -->", "| a | b |", "> quoted", "---", "===", "1. one", "- [ ] do", "\ttab"]
    ),
    st.text(max_size=12).filter(lambda text: "\n" not in text),
)
NOTES = st.builds(
    lambda head, lines, ending, last: (head + ending.join(lines) + (ending if last else "")).encode(
        errors="surrogatepass"
    ),
    st.sampled_from(["", "---\ntags: [a]\n---\n", "---\nodd: [\n---\n", "\ufeff"]),
    st.lists(LINES, max_size=12),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
OPERATIONS = st.fixed_dictionaries(
    {"op": st.sampled_from(OPERATION_NAMES)},
    optional={
        "heading": HEADINGS,
        "subheading": HEADINGS,
        "line": st.one_of(WORDS, LINES),
        "match": st.one_of(WORDS, WORDS.map(lambda text: f"{text[:5]}...")),
        "lines": st.lists(WORDS, max_size=3),
    },
)


def lines_of(content: bytes) -> list[bytes]:
    return content.removeprefix("\ufeff".encode()).replace(b"\r\n", b"\n").split(b"\n")


@given(NOTES, OPERATIONS)
def test_an_operation_applied_twice_is_applied_once(note: bytes, operation: dict[str, object]) -> None:
    """The second time it does nothing."""
    once = apply_operations(note, [operation])
    twice = apply_operations(once.content, [operation])

    assert twice.content == once.content
    assert not twice.is_changed


@given(NOTES, OPERATIONS)
def test_the_bytes_of_all_other_lines_stay(note: bytes, operation: dict[str, object]) -> None:
    """An addition keeps every line in its order; a removal only takes lines away; without an effect nothing differs."""
    edit = apply_operations(note, [operation])
    before, after = lines_of(note), lines_of(edit.content)

    if not edit.is_changed:
        assert edit.content == note
    elif operation["op"] in ("append", "add_heading"):
        assert is_within(before, after)
    elif operation["op"] in ("remove", "remove_heading"):
        assert is_within(after, before)
    else:
        common = 0
        while common < min(len(before), len(after)) and before[common] == after[common]:
            common += 1
        rest = len(after) - common - 1
        assert rest <= 0 or before[-rest:] == after[-rest:]


def is_within(small: list[bytes], large: list[bytes]) -> bool:
    """True if all lines of the one stand in the other, in this order; a last empty one is the end of the text."""
    rest = iter(large)
    return all(line in rest for line in (small[:-1] if small[-1:] == [b""] else small))


@given(
    st.binary(max_size=60), st.lists(st.one_of(st.none(), st.integers(), st.text(max_size=5), OPERATIONS), max_size=5)
)
def test_nothing_raises_and_each_operation_has_an_outcome(note: bytes, operations: list[object]) -> None:
    """Whatever the bytes and the operations are."""
    edit = apply_operations(note, operations)

    assert len(edit.results) == len(operations)


@given(NOTES, OPERATIONS)
def test_what_is_protected_stays(note: bytes, operation: dict[str, object]) -> None:
    """With everything protected no statement and no heading is ever lost."""
    edit = apply_operations(note, [operation], is_protected=lambda key: True)

    assert statement_keys(note) <= statement_keys(edit.content)
