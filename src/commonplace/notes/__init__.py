"""Notes: Markdown text <-> Note. Pure: no disk, no clock.

Reading:
    parse             bytes -> Note: properties, headings, links, tags, structured lines, each with its line; sections
    note_text         bytes split into frontmatter and body, line numbers, text without markup; diffs made and applied
    frontmatter       the frontmatter's values and problems; title, aliases and tags
    yaml_tree         a YAML block as a tree with offsets
    markdown          headings and blocks, and which characters are prose
    links             wikilinks and Markdown links
    link_resolver     which file a link means; links that follow a moved note

Writing:
    frontmatter_edit  set or remove one key, merge an incoming note; all other lines stay byte for byte
    section_operations  statements below headings added, replaced and removed; nothing else changes
    yaml_emit         a key and its value as YAML text

Indexing and evaluation:
    chunks            a note cut at its headings, and a text split into sentences
    text_splitter     a section that is too long, split at the best boundaries
    probes            questions made from notes, a sample of them, and the notes without their text
"""

from commonplace.notes.frontmatter_edit import remove_key, set_key
from commonplace.notes.link_resolver import LinkResolver
from commonplace.notes.parse import parse, section_named, sections

__all__ = ["LinkResolver", "parse", "remove_key", "section_named", "sections", "set_key"]
