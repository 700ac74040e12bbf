"""Parse one note's bytes into a Note: properties, headings, links, tags and structured lines, each with its line.

A structured line is an observation, `- [kind] text #topic`, or a relation, `- predicate [[Object]] #topic`. An action
line has a box, `- [ ] text`, or stands below a heading such as `Action items`. A section is a heading with everything
below it.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator

from commonplace.model import ActionLine, Heading, Link, Note, Observation, Problem, Relation, Section
from commonplace.model.text import fold_heading
from commonplace.notes.frontmatter import aliases_of, frontmatter_from_tree, tags_of, title_of
from commonplace.notes.links import find_markdown_links, find_property_links, find_wikilinks, parse_wikilink, vault_link
from commonplace.notes.markdown import CODE, COMMENT, MATH, blank_out, find_blocks, mask_non_prose
from commonplace.notes.note_text import LineIndex, NoteText, replace_invalid_bytes, split_note
from commonplace.notes.yaml_tree import FIRST_LINE, parse_yaml

# A tag has letters, digits, marks and symbols of every script, `_`, `-` and `/`; no spaces and no punctuation.
_ASCII = r"\x00-,.:-@\[-^`{-\x7f"
_LATIN = r"\x80-\xa9\xab-\xb4\xb6-\xb9\xbb-\xbf\xd7\xf7"
_WIDE = r"\u2000-\u206f\u2e00-\u2e7f\u3000-\u303f\uff00-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"
_TAG = re.compile(rf"#(?<!\S#)([^\s{_ASCII}{_LATIN}{_WIDE}]++)")
_BULLET = re.compile(r"\n[ \t]*+[-*+][ \t]++")
_OBSERVATION = re.compile(r"\[([^\W\d_][\w -]{0,38}[\w-])\][ \t]++([^\n]++)")
_RELATION = re.compile(r"([^\W\d_][\w-]*+(?:[ ][\w-]++){0,3}+)[ \t]++\[\[([^\[\]\n\x01\x02]+)\]\]([^\n]*+)")
_ACTION = re.compile(r"\n[ \t>]*+(?:[-*+]|\d{1,9}[.)])[ \t]++(?:\[([^\]\n])\][ \t]++)?+([^\n]++)")
_ACTION_HEADING = re.compile(
    r"(?:action (?:items?|points?)|actions|next (?:steps|actions)|commitments|to-?dos?|follow-?ups?|tasks"
    r"|aufgaben|maßnahmen|nächste schritte)\b",
)
_ASSIGNING_HEADING = re.compile(
    r"(?:action (?:items?|points?)|next (?:steps|actions)|commitments|follow-?ups?|maßnahmen|nächste schritte)\b"
)
_BLOCK_ID = re.compile(r"(?<!\S)\^[A-Za-z0-9-]++$")


def find_tags(prose: str) -> Iterator[re.Match[str]]:
    """Every tag after a space or at the beginning of a line; group 1 is its name. A number is not a tag."""
    for match in _TAG.finditer(prose):
        name = match.group(1).strip("/")
        if name.strip("_-/") and not name.isdigit():
            yield match


def tag_names(prose: str) -> Iterator[str]:
    """The names of the tags, in order."""
    return (match.group(1).strip("/") for match in find_tags(prose))


def unique_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """The tags without duplicates, ignoring case, each as first written."""
    first: dict[str, str] = {}
    for tag in tags:
        first.setdefault(tag.casefold(), tag)
    return tuple(first.values())


def find_observations(prose: str, body: str, *, lines: LineIndex) -> Iterator[Observation]:
    """The observations in a body. Task boxes, links and footnotes are not observations."""
    for match in _after_bullets(_OBSERVATION, prose):
        end, topics = _topics(prose, *match.span(2))
        text = _visible_text(body, prose, match.start(2), end)
        if text:
            yield Observation(match.group(1), text, topics, lines.number(match.start(1)))


def find_relations(prose: str, body: str, *, lines: LineIndex) -> Iterator[Relation]:
    """The relations in a body: only topics may follow the link."""
    for match in _after_bullets(_RELATION, prose):
        predicate = match.group(1)
        link = parse_wikilink(body[match.start(2) : match.end(2)])
        end, topics = _topics(prose, *match.span(3))
        is_bare = not _visible_text(body, prose, match.start(3), end)
        if link and link.target and is_bare and predicate == predicate.lower():
            yield Relation(predicate, link.target, topics, lines.number(match.start(1)))


def find_actions(prose: str, body: str, *, headings: Iterable[Heading], lines: LineIndex) -> Iterator[ActionLine]:
    """The lines that may say what someone has to do: every box, and each line of a list below `Action items`."""
    sections = [(each.line, *_is_for_actions(each)) for each in headings]
    for match in _ACTION.finditer("\n" + prose):
        number = lines.number(match.start())
        above = ((listed, assigned) for line, listed, assigned in reversed(sections) if line < number)
        is_listed, is_assigned = next(above, (False, False))
        if match.group(1) is None and not is_listed:
            continue
        if text := _visible_text(body, prose, match.start(2) - 1, match.end(2) - 1):
            yield ActionLine(match.group(1) or "", text, is_listed, number, is_assigned)


def _is_for_actions(heading: Heading) -> tuple[bool, bool]:
    """Whether the heading is one for action items, and whether the lines below say who does what."""
    text = fold_heading(heading.text).lstrip("*_~ ")
    return _ACTION_HEADING.match(text) is not None, _ASSIGNING_HEADING.match(text) is not None


def _after_bullets(pattern: re.Pattern[str], prose: str) -> Iterator[re.Match[str]]:
    """The matches of the pattern directly after list bullets."""
    for bullet in _BULLET.finditer("\n" + prose):
        match = pattern.match(prose, bullet.end() - 1)
        if match:
            yield match


def _topics(prose: str, start: int, end: int) -> tuple[int, tuple[str, ...]]:
    """Where the text before a line's trailing tags ends, and those tags; a block id after them is ignored."""
    line = prose[start:end].rstrip(COMMENT + " \t\r")
    line = _BLOCK_ID.sub("", line).rstrip(COMMENT + " \t\r")
    names: list[str] = []
    text_end = len(line)
    for tag in reversed(list(find_tags(line))):
        if line[tag.end() : text_end].strip(COMMENT + " \t"):
            break
        names.append(tag.group(1).strip("/"))
        text_end = tag.start()
    return start + text_end, tuple(reversed(names))


def _visible_text(body: str, prose: str, start: int, end: int) -> str:
    """The text as written, without the comments in it."""
    if COMMENT in prose[start:end]:
        return "".join(body[at] for at in range(start, end) if prose[at] != COMMENT).strip()
    return body[start:end].strip()


_CONFLICT_MARKER = re.compile(r"^(?P<marker><{7}|={7}|>{7})(?=[ \r\n]|\Z)", re.MULTILINE)
_CONFLICT_MESSAGE = (
    "git left a merge conflict here: keep what is right of the two versions, delete the lines that begin with "
    "<<<<<<<, ======= and >>>>>>>, and commit the note"
)


def parse(raw: bytes, *, path: str, mtime: float) -> Note:
    """The note. Accepts any bytes; what is wrong with them is in its `problems`."""
    parts = split_note(raw)
    text = replace_invalid_bytes(parts.text) if parts.bad_line else parts.text
    block_start = len(parts.bom) + len(parts.opening)
    block = text[block_start : block_start + len(parts.block)]
    body_start = len(parts.bom) + len(parts.head)
    body = text[body_start:]
    body_line = parts.head.count("\n") + 1

    tree = parse_yaml(block)
    frontmatter, problems = frontmatter_from_tree(tree, block, path=path)
    block_lines = LineIndex(block, first=FIRST_LINE)
    in_properties = tuple(find_property_links(tree.root, block, lines=block_lines, base=block_start))

    lines = LineIndex(body, first=body_line)
    blocks = find_blocks(body, first=body_line)
    prose = mask_non_prose(body, blocks, lines)
    in_body, without_links = _body_links(prose, body, lines=lines, base=body_start)
    headings = tuple(each for each in blocks.headings if prose[lines.start(each.line)] not in (COMMENT, MATH))
    return Note(
        path=path,
        title=title_of(frontmatter, path=path),
        text=text,
        body=body,
        body_line=body_line,
        frontmatter=frontmatter,
        aliases=aliases_of(frontmatter),
        tags=unique_tags((*tags_of(frontmatter), *tag_names(without_links))),
        headings=headings,
        links=in_properties + in_body,
        observations=tuple(find_observations(prose, body, lines=lines)),
        relations=tuple(find_relations(prose, body, lines=lines)),
        problems=_text_problems(parts, path=path) + conflict_problems(text, path=path) + problems,
        version=hashlib.sha256(raw).hexdigest(),
        size=len(raw),
        mtime=mtime,
        actions=tuple(find_actions(prose, body, headings=headings, lines=lines)),
    )


def conflict_problems(text: str, *, path: str) -> tuple[Problem, ...]:
    """A problem at the first unresolved merge conflict of git; () unless the three markers follow each other.

    Code is not exempt: git marks lines wherever they are. A row of equals signs alone is the underline of a heading.
    """
    if "<<<<<<<" not in text or ">>>>>>>" not in text:
        return ()
    start, is_divided = None, False
    for match in _CONFLICT_MARKER.finditer(text):
        sign = match["marker"][0]
        if sign == "<":
            start, is_divided = match.start(), False
        elif sign == "=":
            is_divided = start is not None
        elif start is not None and is_divided:
            return (Problem(path, text.count("\n", 0, start) + 1, _CONFLICT_MESSAGE, "merge-conflict"),)
    return ()


def _body_links(prose: str, body: str, *, lines: LineIndex, base: int) -> tuple[tuple[Link, ...], str]:
    """The links of a body in order, and the prose without them and without web links."""
    links = list(find_wikilinks(prose, body, lines=lines, base=base)) if "[[" in prose else []
    rest = blank_out(prose, ((link.start - base, link.end - base, CODE) for link in links))
    if "](" not in rest:
        return tuple(links), rest
    markdown_links = sorted(find_markdown_links(rest, body), key=lambda each: each.start)
    links += filter(None, (vault_link(each, body, lines=lines, base=base) for each in markdown_links))
    links.sort(key=lambda link: link.start)
    return tuple(links), blank_out(rest, ((each.start, each.end, CODE) for each in markdown_links))


def _text_problems(parts: NoteText, *, path: str) -> tuple[Problem, ...]:
    problems = []
    if parts.bad_line:
        message = "this line contains bytes that are not UTF-8 text"
        problems.append(Problem(path, parts.bad_line, message, "not-utf8"))
    if parts.unclosed:
        message = "frontmatter: it begins here and is never closed by a line of three dashes"
        problems.append(Problem(path, 1, message, "unclosed-frontmatter"))
    return tuple(problems)


_SEPARATOR = re.compile(r"\s*#\s*|\s+>\s+")


def sections(note: Note) -> tuple[Section, ...]:
    """Every section of the note, in the order of their headings; text before the first heading is in none."""
    lines = LineIndex(note.text)
    past_end = note.text.count("\n") + (not note.text.endswith("\n")) + 1
    every = []
    path: list[tuple[int, str]] = []
    ends = _section_ends(note, past_end)
    for heading, end in zip(note.headings, ends, strict=True):
        path = [step for step in path if step[0] < heading.level] + [(heading.level, heading.text)]
        text = note.text[lines.start(heading.line) : lines.start(end)]
        every.append(Section(tuple(text for _, text in path), heading.level, heading.line, end, text))
    return tuple(every)


def section_named(note: Note, name: str) -> Section | None:
    """The first section with this heading, ignoring case; `A > B` and `A#B` name a B somewhere below A."""
    heading = fold_heading(name.lstrip("#"))
    every = sections(note)
    for section in every:
        if fold_heading(section.path[-1]) == heading:
            return section
    steps = [fold_heading(step) for step in _SEPARATOR.split(name.strip().strip("#")) if step.strip()]
    return next((section for section in every if _matches(section.path, steps)), None)


def _section_ends(note: Note, past_end: int) -> list[int]:
    """For each heading, the line of the next one of the same or a higher level."""
    ends = [past_end] * len(note.headings)
    open_sections: list[int] = []
    for index, heading in enumerate(note.headings):
        while open_sections and note.headings[open_sections[-1]].level >= heading.level:
            ends[open_sections.pop()] = heading.line
        open_sections.append(index)
    return ends


def _matches(path: tuple[str, ...], steps: list[str]) -> bool:
    """True if the path ends in the last step and has the others before it, in order."""
    *above, last = [fold_heading(text) for text in path]
    if not steps or last != steps[-1]:
        return False
    remaining = iter(above)
    return all(step in remaining for step in steps[:-1])
