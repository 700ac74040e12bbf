"""The context of a prompt: what memory shows a model, what it left out, and why."""

from dataclasses import dataclass
from hashlib import blake2b
from typing import Literal, get_args

ContextSection = Literal["user", "profile", "facts", "channel", "dated", "session", "playbooks", "recalled"]
CONTEXT_SECTIONS: tuple[ContextSection, ...] = get_args(ContextSection)
"""The sections in the order in which they appear before the prompt.

Facts, playbooks and recalled passages are for one prompt; the other sections are for a whole session.
"""

SESSION_SECTIONS: frozenset[ContextSection] = frozenset({"user", "profile", "channel", "dated", "session"})

Need = Literal["idle", "general", "task", "personal"]
"""What a prompt is: play with words or numbers, a question that anybody could ask, a request about things at hand, or
one about the person."""

OmissionReason = Literal["budget", "section", "known", "over", "scope", "doubled", "unsure", "late", "sensitive"]
"""Why a piece was left out: no room in the whole budget or in its section, already shown above, no longer valid, a kind
that this phase skips, a duplicate, too far from the prompt, not ready in time, or sensitive.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A candidate for the context of a prompt.

    `key` identifies it: the id of a fact or entry, else the path of a note or conversation, with `#` and a line for a
    part of it. `document` is the path of its note or conversation; `source` is that path for people, with the line.
    `score` orders the pieces of a section, highest first. `why` says why it is considered. `doubt` says why an agent
    should ask before it relies on it; empty if there is no doubt.
    `group` is the heading under which it stands in its section; empty for none. `said` says when, and if need be
    by whom, where another piece may say otherwise; `newest` is the key of that one if it is newer: this one stands
    behind it. Of the pieces of a section that have a `place`, the first stands where the best of them would, and so on.
    `protected_as` names the section with which it gets space, if that is another one. A pinned piece is never cut; one
    that yields gets space only after the profile. `fact` is the id under which its use is counted; empty for other
    pieces.
    """

    section: ContextSection
    key: str
    document: str
    source: str
    text: str
    why: str
    title: str = ""
    group: str = ""
    said: str = ""
    newest: str = ""
    place: int = 0
    protected_as: ContextSection | None = None
    kind: str = ""
    score: float = 0.0
    day: str = ""
    valid_until: str = ""
    doubt: str = ""
    is_pinned: bool = False
    yields: bool = False
    fact: str = ""

    @property
    def mark(self) -> str:
        """A key for this piece and its text: it changes with the text, and not with what else is known."""
        digest = blake2b(self.text.encode("utf-8", "surrogatepass"), digest_size=8)
        return f"{self.key}@{digest.hexdigest()}"


@dataclass(frozen=True, slots=True)
class IncludedPiece:
    """A piece in the context, how many characters of its text are shown, and whether it was cut."""

    piece: Piece
    chars: int
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class OmittedPiece:
    """A piece that was left out: its section, its source, and why.

    `said` is the reason for people.
    """

    section: ContextSection
    source: str
    why: OmissionReason
    said: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The context for a prompt. `text` is all of it, fenced and with its sources; empty if there is nothing to show.

    `budget` is in characters, `token_budget` in tokens, 0 for none; `tokens` is a conservative estimate. `is_over` says
    that the pinned pieces alone exceed the budget. `topics` are the topics of the conversation, `style` the chosen
    style. `late` lists the parts that were not ready in time, `degraded` what was missing.
    """

    text: str
    included: tuple[IncludedPiece, ...]
    left_out: tuple[OmittedPiece, ...]
    budget: int
    token_budget: int = 0
    tokens: int = 0
    is_over: bool = False
    phase: str = ""
    topics: tuple[str, ...] = ()
    drifted: bool = False
    style: str = ""
    late: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()
    took_ms: float = 0.0

    @property
    def marks(self) -> frozenset[str]:
        """The marks of the pieces that are shown whole, for the `known` of a later context."""
        return frozenset(each.piece.mark for each in self.included if not each.is_cut)

    def __str__(self) -> str:
        return self.text
