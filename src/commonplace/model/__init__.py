"""Nouns shared by all rooms: frozen values, no I/O."""

from commonplace.model.change import Actor, ActorKind, Changed, Erased, Terms, Verb
from commonplace.model.check import Check, ResolvedLink
from commonplace.model.conversation import ROLES, TRUSTS, Message, Recorded, Role, Thread, Trust
from commonplace.model.document import FIELDS, Chunk, Document, Place, Stamp, Voice, WordCounts
from commonplace.model.evaluation import PROBE_KINDS, Evaluation, Miss, ProbeKind, Score
from commonplace.model.finding import Finding
from commonplace.model.note import Heading, Link, Note, Observation, Relation, Section, Stat
from commonplace.model.option import option
from commonplace.model.problem import Problem
from commonplace.model.query import BYS, MODES, Answer, By, Filters, Hit, Mode

__all__ = [
    "BYS",
    "FIELDS",
    "MODES",
    "PROBE_KINDS",
    "ROLES",
    "TRUSTS",
    "Actor",
    "ActorKind",
    "Answer",
    "By",
    "Changed",
    "Check",
    "Chunk",
    "Document",
    "Erased",
    "Evaluation",
    "Filters",
    "Finding",
    "Heading",
    "Hit",
    "Link",
    "Message",
    "Miss",
    "Mode",
    "Note",
    "Observation",
    "Place",
    "ProbeKind",
    "Problem",
    "Recorded",
    "Relation",
    "ResolvedLink",
    "Role",
    "Score",
    "Section",
    "Stamp",
    "Stat",
    "Terms",
    "Thread",
    "Trust",
    "Verb",
    "Voice",
    "WordCounts",
    "option",
]
