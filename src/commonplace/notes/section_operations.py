"""Five operations on the sections of a Markdown note: append, add_heading, remove, replace, remove_heading.

A statement is a list item or a paragraph. An operation is validated and applied by itself: a bad one is rejected with a
reason, the others apply, and nothing raises. Only the lines that an operation names change. After each operation the
new text is parsed again: if the frontmatter, the headings or the statements are not exactly what the operation means,
it is rejected (`unsafe_place`), so that nothing is smuggled in by Markdown that the checks do not know.

    match   the whole statement, without its bullet; case, blanks and the full stop do not count. `...` at its beginning
            or its end stands for any words: `Prefers tea...`. Replacing a doubled statement by its own words leaves one
            less of it.
"""

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from commonplace.model.note import Problem
from commonplace.model.profile import OPERATION_NAMES, OperationOutcome, OperationResult, ProfileOperation
from commonplace.model.text import fold_heading
from commonplace.model.untrusted_text import break_marks
from commonplace.notes.markdown import find_blocks, mask_non_prose
from commonplace.notes.note_text import LineIndex, NoteText, render_note, split_note

MOST_OPERATIONS: Final = 50
"""Operations in one call: a night's curation has a handful."""
LONGEST_LINE: Final = 500
LONGEST_HEADING: Final = 80
MOST_LINES: Final = 20
LARGEST_NOTE: Final = 60_000
"""Bytes beyond which nothing is added: a profile note is loaded into every session."""

Screen = Callable[[str], str]
"""Why a text may not be added, in one word; empty if it may."""

_ITEM: Final = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
_BULLET: Final = re.compile(r"[ \t]*([-*+])[ \t]")
_LEAD: Final = re.compile(r"[ \t]*")
_UNDERLINE: Final = re.compile(r" {0,3}(?:=+|-+)[ \t]*")
_ATX: Final = re.compile(r" {0,3}#{1,6}(?:[ \t]|$)")
_FENCE: Final = re.compile(r"```|~~~")
_BLOCK_START: Final = re.compile(r"#|>|\||[-=*_]{3,}\s*$|\$\$")
_HIDDEN: Final = re.compile(r"<!--|-->|%%|</?[A-Za-z]|<\?|<!")
_UNCLOSED: Final = re.compile(r"^ {0,3}(?:<!--|%%)", re.MULTILINE)
_JSON_FENCE: Final = re.compile(r"\A\s*```[\w-]*[ \t]*\n(.*?)\n?```\s*\Z", re.DOTALL)
_ELLIPSIS: Final = ("...", "\u2026")
_DATE_STAMP: Final = re.compile(r"[\[(*_]*\d{4}-\d{2}-\d{2}[\])*_]*[ :,.\u2013\u2014-]")
_LONG_STATEMENT: Final = 400
NO_SUCH_HEADING: Final = "no_such_heading"
"""The reason for which an operation on a section is rejected that the note does not have."""
_NAMES: Final = frozenset(("op", "heading", "subheading", "line", "match", "lines"))


@dataclass(frozen=True, slots=True)
class SectionEdit:
    """A note after some operations, and what became of each, in order."""

    content: bytes
    results: tuple[OperationResult, ...]

    @property
    def is_changed(self) -> bool:
        """True if an operation applied; line endings and blanks alone never make a change."""
        return any(each.outcome == "applied" for each in self.results)


def parse_operations(text: str) -> tuple[tuple[object, ...], str]:
    """The operations in a JSON text such as `{"ops": [...]}`, without a code fence around it; and what is wrong.

    A list of operations and a single one are read, too.
    """
    fenced = _JSON_FENCE.match(text)
    try:
        value = json.loads(fenced[1] if fenced else text)
    except (ValueError, RecursionError) as error:
        return (), f"the operations are not JSON: {error}"
    if isinstance(value, Mapping) and "ops" in value:
        value = value["ops"]
    elif isinstance(value, Mapping):
        value = [value]
    return (tuple(value), "") if isinstance(value, list) else ((), "the operations must be a list, as `ops`")


def apply_operations(
    content: bytes,
    operations: Sequence[object],
    *,
    screen: Screen = lambda text: "",
    is_protected: Callable[[str], bool] = lambda key: False,
) -> SectionEdit:
    """The note after these operations, each a ProfileOperation or a mapping of its fields. Never raises.

    `screen` refuses texts to be added. An operation that would remove or replace a statement or a heading whose key
    `is_protected` is rejected with the reason `protected`.
    """
    results: list[OperationResult] = []
    for number, given in enumerate(operations):
        operation, reason = read_operation(given)
        if not reason and number >= MOST_OPERATIONS:
            reason = "too_many"
        reason = reason or _text_problem(operation, screen)
        if reason:
            results.append(OperationResult(operation, "rejected", reason))
            continue
        done = _Application(content, operation, is_protected).result()
        content = done.content
        results.append(OperationResult(operation, done.outcome, done.reason))
    return SectionEdit(content, tuple(results))


def read_operation(given: object) -> tuple[ProfileOperation, str]:
    """The operation in a mapping, and why it cannot be one; empty if it can."""
    if isinstance(given, ProfileOperation):
        return given, "" if given.op in OPERATION_NAMES else "unknown_op"
    if not isinstance(given, Mapping):
        return ProfileOperation(""), "not_an_object"
    values = {str(name): value for name, value in given.items() if value not in (None, "", [], ())}
    texts = {name: value for name, value in values.items() if name in _NAMES - {"lines"} and isinstance(value, str)}
    lines = values.get("lines", ())
    is_list = isinstance(lines, list | tuple) and all(isinstance(each, str) for each in lines)
    operation = ProfileOperation(**{"op": "", **texts}, lines=tuple(lines) if is_list else ())
    if operation.op not in OPERATION_NAMES:
        return operation, "unknown_op"
    if values.keys() - _NAMES:
        return operation, "unknown_field"
    return operation, "" if is_list and len(texts) + ("lines" in values) == len(values) else "not_text"


def statement_keys(content: bytes) -> frozenset[str]:
    """The keys of all statements and headings of a note; two with the same words have the same key."""
    outline = _Outline(split_note(content))
    return frozenset((*(each.key for each in outline.statements), *map(_heading_key, outline.headings)))


class SectionStatement(NamedTuple):
    """A statement of a note: its line in the file, the heading of its section, empty above the first, and its words."""

    line: int
    heading: str
    text: str


def section_statements(content: bytes) -> tuple[SectionStatement, ...]:
    """The statements of a note in order."""
    outline = _Outline(split_note(content))
    found = []
    for each in outline.statements:
        above = [heading.text for heading in outline.headings if heading.start < each.start]
        found.append(SectionStatement(each.start + outline.first_line, above[-1] if above else "", each.text))
    return tuple(found)


def section_headings(content: bytes) -> tuple[str, ...]:
    """The headings of a note in order."""
    return tuple(each.text for each in _Outline(split_note(content)).headings)


def lint_sections(content: bytes, *, path: str) -> tuple[Problem, ...]:
    """What could be better in a profile note: statements that begin with a date, that are doubled, or too long."""
    outline = _Outline(split_note(content))
    problems, seen = [], dict[tuple[int, str], int]()
    for each in outline.statements:
        line = each.start + outline.first_line
        section = max((at for at, heading in enumerate(outline.headings) if heading.start < each.start), default=-1)
        if _DATE_STAMP.match(each.text):
            said = "begins with a date: what happened on a day belongs into a dated note"
            problems.append(Problem(path, line, said, code="profile-dated"))
        if len(each.text) > _LONG_STATEMENT:
            said = f"has {len(each.text)} characters: every session loads them"
            problems.append(Problem(path, line, said, code="profile-long"))
        if (first := seen.setdefault((section, each.key), line)) != line:
            problems.append(Problem(path, line, f"says the same as line {first}", code="profile-double"))
    return tuple(problems)


# ---------------------------------------------------------------- checks of what comes in


def _text_problem(operation: ProfileOperation, screen: Screen) -> str:
    """Why the texts of an operation are refused, in one word; empty if they are fit."""
    adds = operation.op in ("append", "replace")
    if operation.op in ("add_heading", "remove_heading") and not operation.heading.strip():
        return "missing_heading"
    if operation.subheading and not operation.heading.strip():
        return "missing_heading"
    if operation.op in ("remove", "replace") and not _fold(operation.match).strip(". \u2026"):
        return "missing_match"
    if adds and not _words(operation.line):
        return "missing_line"
    if len(operation.lines) > MOST_LINES:
        return "too_many_lines"
    if max(len(operation.match), len(operation.heading), len(operation.subheading)) > 4 * LONGEST_LINE:
        return "too_long"
    added = (*((operation.line,) if adds else ()), *(operation.lines if operation.op == "add_heading" else ()))
    named = (operation.subheading or operation.heading) if operation.op == "add_heading" else ""
    problems = (_heading_problem(named) if named else "", *map(_line_problem, added))
    if problem := next(filter(None, problems), ""):
        return problem
    about = screen(named) if named else ""  # a heading of one word says little, and is not junk for that
    screened = ("" if about == "junk" else about, *(screen(" ".join(each.split())) for each in added))
    return next(filter(None, screened), "")


def _line_problem(text: str) -> str:
    words = _words(text)
    if not words:
        return "missing_line"
    if "\n" in text.strip() or "\r" in text.strip():
        return "several_lines"
    if len(words) > LONGEST_LINE:
        return "too_long"
    if break_marks(words) != words:
        return "hidden_or_marked"
    if _FENCE.search(words):
        return "code_fence"
    if _ATX.match(words) or words.startswith("#"):
        return "heading_in_text"
    if _BLOCK_START.match(words) or _ITEM.match(words):
        return "block_in_text"
    return "html_or_comment" if _HIDDEN.search(words) else ""


def _heading_problem(text: str) -> str:
    if "\n" in text or "\r" in text:
        return "several_lines"
    if len(text.strip()) > LONGEST_HEADING:
        return "too_long"
    if break_marks(text) != text or _HIDDEN.search(text) or _FENCE.search(text) or "`" in text:
        return "hidden_or_marked"
    return "heading_in_text" if text.strip().startswith("#") or text.strip().endswith("#") else ""


def _words(text: str) -> str:
    """The statement in a line: without its bullet and the blanks around it."""
    stripped = text.strip()
    bullet = _ITEM.match(stripped)
    return stripped[bullet.end() :].strip() if bullet else stripped


def _fold(text: str) -> str:
    """A statement as two spellings of it compare equal."""
    folded = unicodedata.normalize("NFC", " ".join(_words(text).split())).casefold()
    return unicodedata.normalize("NFC", folded)


def without_statements(content: bytes, keys: Collection[str]) -> tuple[str, tuple[SectionStatement, ...]]:
    """The text of a note below its frontmatter, without the statements and headings of these keys; and the former."""
    outline = _Outline(split_note(content))
    gone = [each for each in outline.statements if each.key in keys]
    lines = {number for each in gone for number in range(each.start, each.end)}
    lines |= {
        number for each in outline.headings if _heading_key(each) in keys for number in range(each.start, each.body)
    }
    text = "".join(line for number, line in enumerate(outline.lines) if number not in lines)
    starts = {each.start + outline.first_line for each in gone}
    return text, tuple(each for each in section_statements(content) if each.line in starts)


def statement_key(text: str) -> str:
    """The key of a statement: its folded words without the punctuation at the end."""
    folded = _fold(text)
    return folded.rstrip(".;,! ") or folded


# ---------------------------------------------------------------- the outline of a note


@dataclass(frozen=True, slots=True)
class _Statement:
    """A list item or a paragraph: its lines from `start` to `end`, excluded, its prefix and its words."""

    start: int
    end: int
    prefix: str
    text: str
    indent: int
    is_item: bool

    @property
    def key(self) -> str:
        return statement_key(self.text)


@dataclass(frozen=True, slots=True)
class _Section:
    """A heading with the lines of its section; `own` is where the first section below it begins."""

    text: str
    level: int
    start: int
    body: int
    own: int
    end: int


def _heading_key(section: _Section) -> str:
    return f"# {fold_heading(section.text)}"


class _Outline:
    """The lines of a note's body, its sections and its statements. Line numbers start at 0 below the frontmatter."""

    def __init__(self, note: NoteText) -> None:
        self.note = note
        self.lines = [line for line in re.split(r"(?<=\n)", note.body) if line]
        self.first_line = 1 + (note.bom + note.head).count("\n")
        blocks, index = find_blocks(note.body, first=0), LineIndex(note.body, first=0)
        prose = mask_non_prose(note.body, blocks, index)
        self.prose = [line for line in re.split(r"(?<=\n)", prose) if line]
        self.opaque = {number for start, end in blocks.opaque for number in range(start, end)}
        if unclosed := _UNCLOSED.search(prose):  # hides all that follows
            self.opaque.update(range(index.number(unclosed.start()), len(self.lines)))
        self.headings = self._sections([(each.text, each.level, each.line) for each in blocks.headings])
        self.statements = tuple(self._statements())

    def _sections(self, headings: Sequence[tuple[str, int, int]]) -> tuple[_Section, ...]:
        sections = []
        for place, (text, level, start) in enumerate(headings):
            following = headings[place + 1 :]
            own = following[0][2] if following else len(self.lines)
            end = next((line for _, other, line in following if other <= level), len(self.lines))
            sections.append(_Section(text, level, start, self._below(start), own, end))
        return tuple(sections)

    def _below(self, start: int) -> int:
        """The line after a heading; one that is underlined has two lines or more."""
        if _ATX.match(self.lines[start]):
            return start + 1
        ends = (number for number in range(start + 1, len(self.lines)) if self._is_underline(number))
        return next(ends, start) + 1

    def _is_underline(self, number: int) -> bool:
        return _UNDERLINE.fullmatch(self.lines[number].rstrip("\r\n")) is not None

    def _statements(self) -> Iterator[_Statement]:
        taken = {number for each in self.headings for number in range(each.start, each.body)} | self.opaque
        number = 0
        while number < len(self.lines):
            if number in taken or not self._is_prose(number):
                number += 1
                continue
            end = number + 1
            while end < len(self.lines) and end not in taken and self._continues(end):
                end += 1
            yield self._statement(number, end)
            number = end

    def _is_prose(self, number: int) -> bool:
        line = self.lines[number].strip()
        shown = self.prose[number].strip().strip("\x00\x01\x02")
        return bool(line and shown) and line[0] not in "|>" and not _BLOCK_START.match(line)

    def _continues(self, number: int) -> bool:
        return self._is_prose(number) and not _ITEM.match(self.lines[number])

    def _statement(self, start: int, end: int) -> _Statement:
        first = self.lines[start]
        item = _ITEM.match(first)
        prefix = (item or _LEAD.match(first) or item)[0]  # type: ignore[index]
        words = " ".join((first[len(prefix) :], *self.lines[start + 1 : end])).split()
        indent = len(prefix.expandtabs(4)) - len(prefix.expandtabs(4).lstrip())
        return _Statement(start, end, prefix, " ".join(words), indent, item is not None)

    def within(self, start: int, end: int) -> list[_Statement]:
        """The statements that begin in these lines."""
        return [each for each in self.statements if start <= each.start < end]

    @property
    def title(self) -> _Section | None:
        """The only heading of level 1, if it comes first: the title of the note."""
        top = [each for each in self.headings if each.level == 1]
        return top[0] if len(top) == 1 and self.headings[0] is top[0] else None

    def ending(self) -> str:
        """The line ending of the note."""
        whole = self.note.text
        return "\r\n" if "\r\n" in whole else "\n"

    def last_line(self, start: int, end: int) -> int:
        """The last line in this range that is not blank; the one before it if all are."""
        return next((number for number in range(end - 1, start - 1, -1) if self.lines[number].strip()), start - 1)

    def shape(self) -> tuple[tuple[int, str], ...]:
        """The headings with their levels: what an operation may not change by the way."""
        return tuple((each.level, each.text) for each in self.headings)


# ---------------------------------------------------------------- applying one operation


@dataclass(frozen=True, slots=True)
class _Done:
    content: bytes
    outcome: OperationOutcome
    reason: str = ""


class _Rejected(Exception):
    """The operation is rejected for this reason, or does nothing."""

    def __init__(self, reason: str, *, outcome: OperationOutcome = "rejected") -> None:
        super().__init__(reason)
        self.outcome: OperationOutcome = outcome
        self.reason = reason if outcome == "rejected" else ""


class _Application:
    """One operation on one note."""

    def __init__(self, content: bytes, operation: ProfileOperation, is_protected: Callable[[str], bool]) -> None:
        self._content, self._operation, self._is_protected = content, operation, is_protected
        self._outline = _Outline(split_note(content))

    def result(self) -> _Done:
        """The note after the operation; the same bytes if it does nothing or is rejected."""
        deeds: Mapping[str, Callable[[], list[str]]] = {
            "append": self._append,
            "add_heading": self._add_heading,
            "remove": self._remove,
            "replace": self._replace,
            "remove_heading": self._remove_heading,
        }
        try:
            lines = deeds[self._operation.op]()
            return _Done(self._checked(lines), "applied")
        except _Rejected as rejected:
            return _Done(self._content, rejected.outcome, rejected.reason)

    def _checked(self, lines: Sequence[str]) -> bytes:
        """The new bytes, after a look at whether they say what the operation means, and nothing else."""
        content = render_note(replace(self._outline.note, body="".join(lines)))
        adds = self._operation.op in ("append", "add_heading", "replace")
        if adds and len(content) > max(LARGEST_NOTE, len(self._content)):
            raise _Rejected("note_full")
        after, note = _Outline(split_note(content)), self._outline.note
        if (after.note.bom, after.note.head) != (note.bom, note.head):
            raise _Rejected("unsafe_place")
        if not _is_meant(self._outline, after, self._operation):
            raise _Rejected("unsafe_place")
        return content

    # the place

    def _section(self, *, outcome: OperationOutcome = "rejected") -> _Section | None:
        """The section that the operation names; None for the whole note."""
        heading = self._operation.heading.strip()
        if not heading:
            return None
        section = self._named(heading, self._outline.headings, outcome=outcome)
        if not self._operation.subheading.strip() or self._operation.op == "add_heading":
            return section
        below = [each for each in self._outline.headings if section.start < each.start < section.end]
        return self._named(self._operation.subheading, below, outcome=outcome)

    def _named(self, name: str, among: Sequence[_Section], *, outcome: OperationOutcome = "rejected") -> _Section:
        found = [each for each in among if fold_heading(each.text) == fold_heading(name.strip().lstrip("#"))]
        if not found:
            raise _Rejected(NO_SUCH_HEADING, outcome=outcome)
        if len(found) > 1:
            raise _Rejected("ambiguous_heading")
        return found[0]

    def _top(self) -> tuple[int, int]:
        """The lines before the first section: below the title, if the note has one."""
        headings, title = self._outline.headings, self._outline.title
        if title:
            return title.body, title.own
        return 0, headings[0].start if headings else len(self._outline.lines)

    # the five operations: each gives the new lines

    def _append(self) -> list[str]:
        section, words = self._section(), _words(self._operation.line)
        start, end = (section.body, section.own) if section else self._top()
        reach = self._outline.within(start, section.end if section else end)
        if any(each.key == statement_key(words) for each in reach):
            raise _Rejected("", outcome="noop_dup")
        return self._inserted(start, end, [words])

    def _add_heading(self) -> list[str]:
        operation, outline = self._operation, self._outline
        parent = self._section() if operation.subheading.strip() else None
        name = " ".join((operation.subheading or operation.heading).split())
        among = [each for each in outline.headings if parent is None or parent.start < each.start < parent.end]
        if there := [each for each in among if fold_heading(each.text) == fold_heading(name)]:
            known = {each.key for section in there for each in outline.within(section.body, section.end)}
            is_known = all(statement_key(line) in known for line in operation.lines)
            raise _Rejected("heading_exists", outcome="noop_dup" if is_known else "rejected")
        start, end = (parent.body, parent.end) if parent else (0, len(outline.lines))
        level = parent.level + 1 if parent else self._top_level()
        if level > 6:
            raise _Rejected("too_deep")
        return self._inserted(start, end, [*_unique(operation.lines).values()][::-1], heading=f"{'#' * level} {name}")

    def _top_level(self) -> int:
        """The level of the note's sections: 2, unless it has several of level 1."""
        return 1 if sum(each.level == 1 for each in self._outline.headings) > 1 else 2

    def _remove(self) -> list[str]:
        section = self._section(outcome="noop_no_match")
        targets = self._matching(section)
        if not targets:
            raise _Rejected("", outcome="noop_no_match")
        for target in targets:
            self._refuse_nested(target)
        return self._without(targets)

    def _replace(self) -> list[str]:
        section, words = self._section(), _words(self._operation.line)
        targets, reach = self._matching(section), self._reach(section)
        others = [each for each in reach if each not in targets]
        is_known = any(each.key == statement_key(words) for each in others)
        if not targets:
            raise _Rejected("", outcome="noop_dup" if is_known else "noop_no_match")
        *more, target = targets
        if more and statement_key(words) != target.key:
            raise _Rejected("ambiguous")
        if more:
            self._refuse_nested(target)
            return self._without([target])
        if is_known:
            self._refuse_nested(target)
            return self._without(targets)
        lines = self._outline.lines
        last = lines[target.end - 1]
        line = f"{target.prefix}{words}{last[len(last.rstrip(chr(13) + chr(10))) :]}"
        if [line] == lines[target.start : target.end]:
            raise _Rejected("", outcome="noop_dup")
        return [*lines[: target.start], line, *lines[target.end :]]

    def _remove_heading(self) -> list[str]:
        section, outline = self._section(outcome="noop_no_match"), self._outline
        if section is None or section is outline.title:
            raise _Rejected("is_title")
        below = [each for each in outline.headings if section.start <= each.start < section.end]
        keys = (*map(_heading_key, below), *(each.key for each in outline.within(section.body, section.end)))
        has_more = any(  # code, tables and quotes are in no statement: nobody knows who wrote them
            line.strip() and not self._is_covered(number)
            for number, line in enumerate(outline.lines[section.body : section.end], section.body)
        )
        if any(map(self._is_protected, keys)) or (has_more and self._is_protected("")):
            raise _Rejected("protected")
        return [*outline.lines[: section.start], *outline.lines[section.end :]]

    def _is_covered(self, number: int) -> bool:
        headings = any(each.start <= number < each.body for each in self._outline.headings)
        return headings or any(each.start <= number < each.end for each in self._outline.statements)

    # their parts

    def _reach(self, section: _Section | None) -> list[_Statement]:
        return self._outline.within(section.body, section.end) if section else [*self._outline.statements]

    def _matching(self, section: _Section | None) -> list[_Statement]:
        """The statements that the operation means. Those that are equal are one; of different ones, none is chosen."""
        matches = _matcher(self._operation.match)
        targets = [each for each in self._reach(section) if matches(each)]
        if len({each.key for each in targets}) > 1:
            raise _Rejected("ambiguous")
        if any(self._is_protected(each.key) for each in targets):
            raise _Rejected("protected")
        return targets

    def _refuse_nested(self, target: _Statement) -> None:
        following = next((each for each in self._outline.statements if each.start >= target.end), None)
        is_below = following and target.is_item and following.indent > target.indent
        gap = self._outline.lines[target.end : following.start] if following else []
        if is_below and not any(_ATX.match(line) for line in gap):
            raise _Rejected("has_nested_lines")

    def _without(self, targets: Sequence[_Statement]) -> list[str]:
        gone = {number for each in targets for number in range(each.start, each.end)}
        return [line for number, line in enumerate(self._outline.lines) if number not in gone]

    def _inserted(self, start: int, end: int, statements: Sequence[str], *, heading: str = "") -> list[str]:
        """The lines with these statements, and a heading before them, after the last line of the range."""
        lines, ending = [*self._outline.lines], self._outline.ending()
        last = self._outline.last_line(start, end)
        item = next((each for each in self._outline.within(start, last + 1) if each.end == last + 1), None)
        bullet = _BULLET.match(item.prefix) if item else None
        mark = bullet[1] if bullet and not heading else "-"
        new = [f"{mark} {each}{ending}" for each in statements]
        if heading:
            new = [f"{heading}{ending}", *([ending] if new else []), *new]
        is_list = bool(bullet) and not heading
        if last >= 0 and not is_list:
            new = [ending, *new]
        if last >= 0 and not lines[last].endswith("\n"):
            lines[last] += ending
        following = lines[last + 1] if last + 1 < len(lines) else ""
        if following.strip() and not (is_list and _ITEM.match(following)):
            new.append(ending)
        return [*lines[: last + 1], *new, *lines[last + 1 :]]


def _matcher(match: str) -> Callable[[_Statement], bool]:
    """True for the statements that a match means; dots at its beginning or end stand for any words."""
    text = match.strip()
    opens = next((len(dots) for dots in _ELLIPSIS if text.startswith(dots)), 0)
    closes = next((len(dots) for dots in _ELLIPSIS if text.endswith(dots)), 0)
    part = _fold(text[opens : len(text) - closes])
    if not (opens or closes):
        key = statement_key(text)
        return lambda each: each.key == key

    def contains(each: _Statement) -> bool:
        folded = _fold(each.text)
        if opens and closes:
            return part in folded
        return folded.startswith(part) if closes else statement_key(folded).endswith(statement_key(part))

    return contains


def _is_meant(before: _Outline, after: _Outline, operation: ProfileOperation) -> bool:
    """True if the new text has exactly the headings and statements that the operation means."""
    old, now = (Counter(each.key for each in outline.statements) for outline in (before, after))
    gone, new = old - now, now - old
    is_same_shape = before.shape() == after.shape()
    if operation.op == "append":
        return is_same_shape and not gone and new == Counter([statement_key(operation.line)])
    if operation.op == "replace":
        is_one = gone.total() == 1 and new.total() <= 1 and new.keys() <= {statement_key(operation.line)}
        return is_same_shape and (is_one or (not gone and not new))
    if operation.op == "remove":
        return is_same_shape and not new and len(gone) == 1
    if operation.op == "add_heading":
        is_one = len(after.headings) == len(before.headings) + 1
        return is_one and not gone and new == Counter([*_unique(operation.lines)])
    return not new and len(after.headings) < len(before.headings)


def _unique(lines: Sequence[str]) -> dict[str, str]:
    """The words of each line by its key, each once."""
    return {statement_key(line): _words(line) for line in reversed(lines)}
