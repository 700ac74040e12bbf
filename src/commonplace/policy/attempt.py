"""What somebody wants to do to a note, and what comes of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from commonplace.errors import Reason, Refused
from commonplace.model import ActorKind, Verb


@dataclass(frozen=True, slots=True)
class Attempt:
    """What somebody wants to do to one path.

    `personal` is the person's explicit word for a personal note, `granted` that a grant for exactly this path was used,
    `within_caps` that a job keeps to what it may write in one run.
    `existing` is the frontmatter of the note that is there, `incoming` that of the text to be written.
    `moved_from` is set when the note comes to `path` from there.
    """

    actor: ActorKind
    verb: Verb
    path: str
    personal: bool
    granted: bool
    within_caps: bool
    existing: Mapping[str, Any]
    incoming: Mapping[str, Any]
    moved_from: str | None

    @property
    def resulting(self) -> Mapping[str, Any]:
        """The frontmatter after the merge: incoming keys win, existing ones survive where they are left out."""
        return {**self.existing, **self.incoming}


@dataclass(frozen=True, slots=True)
class Decision:
    """What comes of an attempt. `path` is where it takes place; `reason`, `message` and `hint` are those of a refusal.

    `in_digest` says that the person is told of it afterwards.
    """

    kind: Literal["allow", "redirect", "stage", "refuse"]
    path: str
    in_digest: bool = False
    reason: Reason | None = None
    message: str = ""
    hint: str | None = None

    def raise_if_refused(self) -> None:
        """Raise Refused when that is the decision."""
        if self.kind == "refuse":
            raise Refused(self.message, path=self.path, reason=self.reason, hint=self.hint)
