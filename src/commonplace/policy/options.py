"""What a person may set about safety. None of it may be set from inside a vault."""

from dataclasses import dataclass
from typing import Literal

from commonplace.model import option

Autonomy = Literal["low", "medium", "high"]


@dataclass(frozen=True, slots=True)
class SafetyOptions:
    """The block `safety`."""

    max_note_bytes: int = option(200_000, "Largest note that may be written, in bytes of UTF-8.", at_least=1)
    path_allowlist: tuple[str, ...] = option(
        ("Inbox", "Meetings", "People", "Projects", "Daily", "Reviews", "WeeklyReview", "Reflections", "Commitments"),
        "Top-level folders that programs may write to.",
    )
    sensitive_frontmatter_key: str = option("sensitive", "A note whose frontmatter has this key set is sensitive.")
    local_only_frontmatter_key: str = option("memory", "A note with this key set to `local-only` is sensitive too.")
    autonomy: Autonomy = option("medium", "How freely agents write: `low` only to the Inbox, else where it belongs.")
