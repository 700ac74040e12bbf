"""Laws of text that goes to a model or a terminal: nothing hidden, no whole mark, no source but ours, and done once."""

import re
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from commonplace.context.compose import ContextLimits, compose
from commonplace.model import CONTEXT_SECTIONS, Piece
from commonplace.model.untrusted_text import break_marks, break_sources, clean_text, line_of, source_label

NONCE = "5fa91c07"
fragments = st.sampled_from(
    (
        *("<", "</", "＜", "&lt;", "[", "]", "［", "】", "[[", "]]", "|", "｜", "\\", ">"),
        *("(", ")", "/", " ", "\n", "\n\n"),
        *("system", "-reminder", "_reminder", "sys", "tem", "ｓystem", "\u0455ystem", "memory-", "MEMORY_", NONCE, ">"),
        *("im_start", "INST", "SYS", "function_calls", "invoke", "Human:", "tool_result", "user-prompt-submit-hook"),
        *("Agent/USER", ".md", "．md", ":1", "entry ", "40e26c", "conversation c-1, turn 2", "<system-reminder>"),
        *("\x1b[0m", "\x1b", "\x9b", "[31m", "\u202e", "\u2066", "\U000e0041", "\u200b", "\u200d", "\u00ad", "\ufeff"),
        *("\ufe0f", "\ufe00", "❤", "क", "日", "\u2028", "\r", "\r\n", "\x00", "\ud800", "\u0301", "a", "e", "\u2060"),
    )
)
texts = st.lists(fragments | st.text(max_size=4), max_size=14).map("".join)

_WHOLE_MARK = re.compile(
    r"<\s*/?\s*system[-_]reminder\b|</?(?:function_calls|tool_result|user-prompt-submit-hook)\b|<\|im_start\|>|\[/?inst\]|"
    r"</?\s*memory[-_]",
    re.IGNORECASE,
)
_FORGED = re.compile(r"\[(?!\\)[^\[\]\n]{0,300}?\.md\b|\[(?:entry )?40e26c\b", re.IGNORECASE)


def is_visible(text: str) -> bool:
    """True if no character controls or hides; a joiner or a variation selector may shape what it follows."""
    kinds = {unicodedata.category(each) for each in text if each not in "\n\t\u200c\u200d"}
    return not kinds & {"Cc", "Cf", "Cs"} and not any(0xFE00 <= ord(each) < 0xFE0E for each in text)


@given(text=texts)
def test_nothing_hidden_and_no_whole_mark_is_left(text: str) -> None:
    """However the parts of a mark were put together, in one text or on one line."""
    for broken in (break_marks(text), break_sources(text), line_of(text), source_label(text)):
        assert is_visible(broken)
        assert not _WHOLE_MARK.search(unicodedata.normalize("NFKC", broken))


@given(text=texts)
def test_no_bracket_is_left_that_looks_like_a_source(text: str) -> None:
    """A label of ours has no bracket inside, and no text has one that a label could have."""
    for broken in (break_sources(text), line_of(text)):
        assert not _FORGED.search(unicodedata.normalize("NFKC", broken))
    assert not {*"[]`\n"} & {*source_label(text)}


@given(text=texts)
def test_breaking_twice_is_breaking_once(text: str) -> None:
    """So a text may pass two doors."""
    for step in (clean_text, break_marks, break_sources, line_of):
        once = step(text)

        assert step(once) == once


@given(
    text=st.text(
        alphabet=st.characters(categories=("L", "N", "P", "Zs"), exclude_characters="\\<[＜‹〈⟨〈❮《˂"), max_size=80
    )
)
def test_text_without_brackets_and_tags_stays(text: str) -> None:
    """Only what could be a mark, a source or hidden is touched."""
    invisible = "\u115f\u1160\u3164\uffa0\u034f\u17b4\u17b5"
    if "&" not in text and not {*text} & {*invisible}:
        assert break_sources(text).replace("\\:", ":") == text


@given(
    parts=st.lists(st.tuples(texts, texts, texts, st.sampled_from(CONTEXT_SECTIONS)), min_size=1, max_size=4),
)
def test_every_source_in_a_context_is_one_of_ours(parts: list[tuple[str, str, str, str]]) -> None:
    """Whatever texts, titles and file names say: as many sources as pieces, and each is a piece's own."""
    pieces = [
        Piece(section=section, key=f"k{n}", document="", source=f"{name} x.md:{n}", text=text, why="a law", title=title)  # type: ignore[arg-type]
        for n, (name, title, text, section) in enumerate(parts)
    ]
    limits = ContextLimits(budget=100_000, recalled=9, playbooks=9)
    composed = compose(pieces, limits, nonce=NONCE, measure=len, now="2026-10-20T12:00:00Z")
    labels = re.findall(r"\[(?!\\)[^\[\]\n]*?\.md\b[^\[\]\n]*?\]", unicodedata.normalize("NFKC", composed.text))

    assert len(labels) == len(composed.included)
    assert composed.text.lower().count(f"<memory-{NONCE}") + composed.text.count(f"</memory-{NONCE}>") == (
        2 * len({each.piece.section for each in composed.included})
    )
