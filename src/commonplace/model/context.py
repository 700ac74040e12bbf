"""The context of a prompt: what memory puts before a model, what it left out, and why of each."""

from dataclasses import dataclass
from hashlib import blake2b
from typing import Literal, get_args

ContextSection = Literal["user", "facts", "channel", "dated", "playbooks", "recalled"]
CONTEXT_SECTIONS: tuple[ContextSection, ...] = get_args(ContextSection)
"""The sections in the order in which they stand before the prompt."""

Why = Literal["budget", "section", "known", "over", "scope", "doubled", "unsure", "late", "sensitive"]
"""Why a piece was left out: no room in all or in its section, it stands above already, its time is over, its kind is
not of this phase, another says the same, it is too far from the prompt, it was not ready in time, its owner withholds
it.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Something that may stand before a prompt.

    `key` names what it is: the id of a fact or entry, else the path of a note or conversation, with `#` and a line for
    a part of it. `document` is the path of the note, or the conversation, that it stands in; `source` is the same for
    people, with the line. `score` orders the pieces of a section, highest first. `why` says why it is considered.
    `doubt` says why an agent should ask before it relies on it; empty where there is none.
    One that `is_pinned` is never cut. `fact` is the id under which its use is counted; empty where it is no fact.
    """

    section: ContextSection
    key: str
    document: str
    source: str
    text: str
    why: str
    title: str = ""
    kind: str = ""
    score: float = 0.0
    day: str = ""
    valid_until: str = ""
    doubt: str = ""
    is_pinned: bool = False
    fact: str = ""

    @property
    def mark(self) -> str:
        """Names what it is and what it says: another one once its text has changed."""
        said = blake2b(self.text.encode("utf-8", "surrogatepass"), digest_size=8)
        return f"{self.key}@{said.hexdigest()}"


@dataclass(frozen=True, slots=True)
class Included:
    """A piece that stands before the prompt, how many characters of its text do, and whether that is not all of it."""

    piece: Piece
    chars: int
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What does not stand before the prompt: of which section, where it would come from, and why it was left out.

    `said` is the reason for people.
    """

    section: ContextSection
    source: str
    why: Why
    said: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What is put before a model. `text` is all of it, fenced and with its sources; empty where there is nothing.

    `budget` is in characters, `token_budget` in tokens, 0 for none; `tokens` is a careful estimate. `is_over` says that
    what is never cut is larger than the budget by itself. `topics` are what the conversation is about, `style` the way
    to speak that was chosen. `late` names the parts that were not ready in time, `degraded` what was done without.
    """

    text: str
    included: tuple[Included, ...]
    left_out: tuple[LeftOut, ...]
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
        """What of it a model has read whole, for the `known` of a later context."""
        return frozenset(each.piece.mark for each in self.included if not each.is_cut)

    def __str__(self) -> str:
        return self.text
