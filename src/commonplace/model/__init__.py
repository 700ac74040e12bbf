"""Nouns shared by all rooms: frozen values, no I/O, nothing imported but the standard library.

note, document      a note as parsed, with its Problems; a document as indexed
fact                facts, candidates, verdicts, topics, styles
query, diagnostics  search filters, hits and results; findings of doctor and evaluations
context             the context of a prompt
conversation        messages and threads
change              actors, terms and results of changes; programs that call the daemon
layout              folder names and path rules of a vault
moment, text        time as text; folded names, lazily compiled expressions
request             a search and a new entry as callers ask for them
option              how a room declares a setting
"""

from commonplace.model.change import SCOPES, Actor, ActorKind, Caller, Changed, Erasure, Scope, Terms, Verb
from commonplace.model.context import (
    CONTEXT_SECTIONS,
    Context,
    ContextSection,
    IncludedPiece,
    OmissionReason,
    OmittedPiece,
    Piece,
)
from commonplace.model.conversation import ROLES, TRUSTS, Message, RecordResult, Role, Thread, Trust
from commonplace.model.diagnostics import PROBE_KINDS, Evaluation, Finding, Miss, ProbeKind, Score
from commonplace.model.document import FIELDS, Chunk, Document, Place, Stamp, Voice, WordCounts
from commonplace.model.fact import (
    FACT_CLASSES,
    STATUSES,
    Action,
    Bond,
    Candidate,
    Chain,
    EntryResult,
    Fact,
    FactClass,
    FactEdge,
    FactEnd,
    FactRecord,
    FactSnapshot,
    FactState,
    InferredTopics,
    Origin,
    Origins,
    SimilarFact,
    Status,
    Style,
    Topic,
    TopicLock,
    Verdict,
)
from commonplace.model.note import (
    Heading,
    Link,
    Note,
    Observation,
    Problem,
    Relation,
    ResolvedLink,
    Section,
    Stat,
    VaultCheck,
)
from commonplace.model.option import option
from commonplace.model.query import MODES, SEARCH_UNITS, Answer, Filters, Hit, Mode, SearchUnit, TimeWindow

__all__ = [
    "CONTEXT_SECTIONS",
    "FACT_CLASSES",
    "FIELDS",
    "MODES",
    "PROBE_KINDS",
    "ROLES",
    "SCOPES",
    "SEARCH_UNITS",
    "STATUSES",
    "TRUSTS",
    "Action",
    "Actor",
    "ActorKind",
    "Answer",
    "Bond",
    "Caller",
    "Candidate",
    "Chain",
    "Changed",
    "Chunk",
    "Context",
    "ContextSection",
    "Document",
    "EntryResult",
    "Erasure",
    "Evaluation",
    "Fact",
    "FactClass",
    "FactEdge",
    "FactEnd",
    "FactRecord",
    "FactSnapshot",
    "FactState",
    "Filters",
    "Finding",
    "Heading",
    "Hit",
    "IncludedPiece",
    "InferredTopics",
    "Link",
    "Message",
    "Miss",
    "Mode",
    "Note",
    "Observation",
    "OmissionReason",
    "OmittedPiece",
    "Origin",
    "Origins",
    "Piece",
    "Place",
    "ProbeKind",
    "Problem",
    "RecordResult",
    "Relation",
    "ResolvedLink",
    "Role",
    "Scope",
    "Score",
    "SearchUnit",
    "Section",
    "SimilarFact",
    "Stamp",
    "Stat",
    "Status",
    "Style",
    "Terms",
    "Thread",
    "TimeWindow",
    "Topic",
    "TopicLock",
    "Trust",
    "VaultCheck",
    "Verb",
    "Verdict",
    "Voice",
    "WordCounts",
    "option",
]
