"""The spaces of a vault, told from paths alone, and names in them that cannot collide.

A path is judged as any file system might read it: `inbox/` is `Inbox/` on many disks, and accents have two spellings.
"""

import hashlib
import unicodedata
from typing import Final, Literal

from commonplace.model import Place
from commonplace.policy.options import SafetyOptions

Space = Literal["personal", "allowlisted", "agent", "memory"]

_AGENT: Final = ("agent",)
_MEMORY: Final = ("agent", "memory")
_STAGING: Final = ("agent", "memory", "_staging")
_ALWAYS_LOADED: Final = ("agent", "memory", "_always-load")
_STANDING: Final = (("agent", "_always-load"), ("agent", "styles"))
_INBOX: Final = ("inbox",)
_AGENT_INBOX: Final = ("agent", "memory", "_inbox")
_ARCHIVE: Final = "_archive"
_STAGING_FOLDER: Final = "Agent/Memory/_staging"
_LONGEST_STEM: Final = 200  # bytes: with digits and ending it stays below the 255 that a name may have


def space_of(path: str, options: SafetyOptions) -> Space:
    """Whose space the path is in; one that no rule knows, or that could lead elsewhere, is personal."""
    parts = _parts(path)
    if _below(parts, _MEMORY):
        return "memory"
    if _below(parts, _AGENT):
        return "agent"
    if any(_below(parts, _parts(folder)) for folder in options.path_allowlist):
        return "allowlisted"
    return "personal"


def is_profile(path: str) -> bool:
    """Whether this is `Agent/USER.md` or a channel's `CHANNEL.md`, also where invisible characters hide it."""
    parts = tuple("".join(char for char in part if unicodedata.category(char) != "Cf") for part in _parts(path))
    return parts == ("agent", "user.md") or (
        len(parts) == 4 and parts[:2] == ("agent", "channels") and parts[3] == "channel.md"
    )


def is_standing(path: str) -> bool:
    """Whether the note stands before prompts as the person's word: what is always loaded, or a way to speak."""
    return any(_below(_parts(path), folder) for folder in _STANDING)


def is_staged(path: str) -> bool:
    """Whether the note waits for a person's review."""
    return _below(_parts(path), _STAGING)


def is_always_loaded(path: str) -> bool:
    """Whether the note's folder alone puts it before every prompt."""
    return _below(_parts(path), _ALWAYS_LOADED)


def is_in_inbox(path: str) -> bool:
    """Whether the note is in the Inbox."""
    return _below(_parts(path), _INBOX)


def place_of(path: str) -> Place:
    """Where the note stands on its way: still in an inbox, put away in an archive, waiting for review, or nowhere."""
    folders = _parts(path)[:-1]
    if is_staged(path):
        return "staging"
    if folders[:1] == _AGENT and _ARCHIVE in folders:
        return "archive"
    return "inbox" if is_in_inbox(path) or _below(_parts(path), _AGENT_INBOX) else ""


def inbox_path(path: str, options: SafetyOptions) -> str | None:
    """Where in the Inbox a note for that path goes; None when the Inbox is not on the allowlist."""
    inbox = next((folder for folder in options.path_allowlist if _parts(folder) == _INBOX), None)
    return f"{inbox.strip('/')}/{flat_name(path)}" if inbox else None


def staging_path(path: str) -> str:
    """Where a note for that path waits for review."""
    return f"{_STAGING_FOLDER}/{flat_name(path)}"


def flat_name(path: str) -> str:
    """One file name for a whole path: the same for the same path, another for any other.

    The path with dashes for slashes, and six digits of its hash; sixteen where the path is too long to be told whole.
    """
    path = unicodedata.normalize("NFC", path)
    stem, dot, ending = path.replace("/", "-").rpartition(".")
    if not dot:
        stem, ending = ending, "md"
    digits = hashlib.sha256(path.encode(errors="surrogatepass")).hexdigest()
    short = stem.encode(errors="replace")[:_LONGEST_STEM].decode(errors="ignore")
    return f"{short}-{digits[: 6 if short == stem else 16]}.{ending}"


def _below(parts: tuple[str, ...], folder: tuple[str, ...]) -> bool:
    return 0 < len(folder) < len(parts) and parts[: len(folder)] == folder


def _parts(path: str) -> tuple[str, ...]:
    """The path's names as they compare; none for a path that could mean another place."""
    names = tuple(_key(name) for name in path.split("/") if name not in ("", "."))
    return () if path.startswith("/") or "\\" in path or ".." in names else names


def _key(name: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
