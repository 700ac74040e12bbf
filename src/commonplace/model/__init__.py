"""Nouns shared by all rooms: frozen values, no I/O."""

from commonplace.model.change import Actor, ActorKind, Changed, Erased, Terms, Verb
from commonplace.model.check import Check, ResolvedLink
from commonplace.model.note import Heading, Link, Note, Observation, Relation, Section, Stat
from commonplace.model.option import option
from commonplace.model.problem import Problem

__all__ = [
    "Actor",
    "ActorKind",
    "Changed",
    "Check",
    "Erased",
    "Heading",
    "Link",
    "Note",
    "Observation",
    "Problem",
    "Relation",
    "ResolvedLink",
    "Section",
    "Stat",
    "Terms",
    "Verb",
    "option",
]
