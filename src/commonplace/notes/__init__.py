"""Markdown text <-> Note: what a note says, each thing with its line, and edits that change nothing else."""

from commonplace.notes.edit import remove_key, set_key
from commonplace.notes.names import Names
from commonplace.notes.parse import parse
from commonplace.notes.sections import section_named, sections

__all__ = ["Names", "parse", "remove_key", "section_named", "sections", "set_key"]
