"""One note's bytes read into a Note: its properties, headings, links, tags and structured lines, each with its line."""

import hashlib

from commonplace.model import Link, Note, Problem
from commonplace.notes.blocks import blocks_of
from commonplace.notes.conflict_markers import merge_conflict
from commonplace.notes.document import Document, readable, split
from commonplace.notes.frontmatter import read_tree
from commonplace.notes.lines import Lines
from commonplace.notes.markdown_links import find_markdown_links, local_link
from commonplace.notes.properties import aliases_of, tags_of, title_of
from commonplace.notes.prose import CODE, COMMENT, MATH, blank, prose_of
from commonplace.notes.statements import observations, relations
from commonplace.notes.tags import each_once, tag_names
from commonplace.notes.wikilinks import property_links, wikilinks
from commonplace.notes.yaml_tree import FIRST_LINE, compose


def parse(raw: bytes, *, path: str, mtime: float) -> Note:
    """The note, for any bytes; what is wrong with them is in its `problems`."""
    document = split(raw)
    text = readable(document.text) if document.bad_line else document.text
    block_start = len(document.bom) + len(document.opening)
    block = text[block_start : block_start + len(document.block)]
    body_start = len(document.bom) + len(document.head)
    body = text[body_start:]
    body_line = document.head.count("\n") + 1

    tree = compose(block)
    frontmatter, problems = read_tree(tree, block, path=path)
    block_lines = Lines(block, first=FIRST_LINE)
    in_properties = tuple(property_links(tree.root, block, lines=block_lines, base=block_start))

    lines = Lines(body, first=body_line)
    blocks = blocks_of(body, first=body_line)
    prose = prose_of(body, blocks, lines)
    in_body, without_links = _links(prose, body, lines=lines, base=body_start)
    return Note(
        path=path,
        title=title_of(frontmatter, path=path),
        text=text,
        body=body,
        body_line=body_line,
        frontmatter=frontmatter,
        aliases=aliases_of(frontmatter),
        tags=each_once((*tags_of(frontmatter), *tag_names(without_links))),
        headings=tuple(it for it in blocks.headings if prose[lines.start(it.line)] not in (COMMENT, MATH)),
        links=in_properties + in_body,
        observations=tuple(observations(prose, body, lines=lines)),
        relations=tuple(relations(prose, body, lines=lines)),
        problems=_problems_of(document, path=path) + merge_conflict(text, path=path) + problems,
        version=hashlib.sha256(raw).hexdigest(),
        size=len(raw),
        mtime=mtime,
    )


def _links(prose: str, body: str, *, lines: Lines, base: int) -> tuple[tuple[Link, ...], str]:
    """The links of a body in the order they stand, and the prose without them and without web links."""
    links = list(wikilinks(prose, body, lines=lines, base=base)) if "[[" in prose else []
    rest = blank(prose, ((link.start - base, link.end - base, CODE) for link in links))
    if "](" not in rest:
        return tuple(links), rest
    found = sorted(find_markdown_links(rest, body), key=lambda each: each.start)
    links += filter(None, (local_link(each, body, lines=lines, base=base) for each in found))
    links.sort(key=lambda link: link.start)
    return tuple(links), blank(rest, ((each.start, each.end, CODE) for each in found))


def _problems_of(document: Document, *, path: str) -> tuple[Problem, ...]:
    problems = []
    if document.bad_line:
        message = "this line holds bytes that are not UTF-8 text"
        problems.append(Problem(path, document.bad_line, message, "not-utf8"))
    if document.unclosed:
        message = "frontmatter: it begins here and is never closed by a line of three dashes"
        problems.append(Problem(path, 1, message, "unclosed-frontmatter"))
    return tuple(problems)
