"""Nouns shared by all rooms: frozen values, no I/O."""

from commonplace.model.change import Actor, ActorKind, Changed, Erased, Terms, Verb
from commonplace.model.check import Check, ResolvedLink
from commonplace.model.document import FIELDS, Chunk, Document, Place, Stamp, WordCounts
from commonplace.model.finding import Finding
from commonplace.model.note import Heading, Link, Note, Observation, Relation, Section, Stat
from commonplace.model.option import option
from commonplace.model.problem import Problem
from commonplace.model.query import MODES, Answer, Filters, Hit, Mode

__all__ = [
    "FIELDS",
    "MODES",
    "Actor",
    "ActorKind",
    "Answer",
    "Changed",
    "Check",
    "Chunk",
    "Document",
    "Erased",
    "Filters",
    "Finding",
    "Heading",
    "Hit",
    "Link",
    "Mode",
    "Note",
    "Observation",
    "Place",
    "Problem",
    "Relation",
    "ResolvedLink",
    "Section",
    "Stamp",
    "Stat",
    "Terms",
    "Verb",
    "WordCounts",
    "option",
]
