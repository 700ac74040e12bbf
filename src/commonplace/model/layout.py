"""The layout of a vault: every folder name of ours, and what a path says about the note there.

Two kinds of comparison. `is_entry_path` and `folder_of` take a path as the vault stores it. The others judge a path as
any file system might read it: `inbox/` is `Inbox/` on many disks, and accents have two spellings.
"""

import hashlib
import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import Final

from commonplace.model.document import Place
from commonplace.model.text import fold_name

USER_NOTE: Final = "Agent/USER.md"
ALWAYS_LOAD: Final = "Agent/_always-load"
DATED_NOTES: Final = "Agent/memories"
CHANNELS: Final = "Agent/channels"
CHANNEL_NOTE: Final = "CHANNEL.md"
STYLES: Final = "Agent/styles"
PROJECTS: Final = "Agent/projects"
DIGESTS: Final = "Agent/digests"
"""Where the digests of what memory did are written; they are reports, and never recalled."""

PEOPLE: Final = "People"
"""Where notes about people are."""
COMMITMENTS: Final = "Commitments"
"""Where the log of commitments is."""

MEMORY: Final = "Agent/Memory"
"""Where entries live, in one folder for each kind, and in the folders named below."""

INBOX_FOLDER: Final = "_inbox"
IDEAS_FOLDER: Final = "_idea-incubator"
ALWAYS_LOAD_FOLDER: Final = "_always-load"
ARCHIVE_FOLDER: Final = "_archive"
STAGING_FOLDER: Final = "_staging"
STAGING: Final = f"{MEMORY}/{STAGING_FOLDER}"
"""Where notes wait for a person's review."""

REJECTED: Final = f"{MEMORY}/{ARCHIVE_FOLDER}/{STAGING_FOLDER}"
"""Where entries go that a person rejected in review."""

PROBE_NOTE: Final = "Agent/self-probe.md"
"""The note that the job `probe` writes, finds and deletes; never given to a prompt."""

INDEX_NOTE: Final = "_index.md"
"""The generated overview of a folder; never an entry and never a style."""

_META_FOLDER: Final = "_meta"  # ours, and holds no entries
_INBOX: Final = re.compile(r"[\W\d_]*inbox")  # people number their folders: `01 Inbox`
_DATED_NAME: Final = re.compile(r"(?:.*/)?(\d{4}-\d{2}-\d{2})\.md", re.ASCII)
_NO_HEADING_SIGNS: Final = re.compile(r"[#|^:\[\]%]+")  # Obsidian leaves them out of links to headings
_ENTRY_NAME: Final = re.compile(r".+-([0-9a-f]{6,16})\.md", re.ASCII | re.DOTALL)
_STAGED_NAME: Final = re.compile(r".+-([0-9a-f]{6})-[0-9a-f]{6,16}\.md", re.ASCII | re.DOTALL)
_SHORT_NAME: Final = re.compile(r"[^ .]{1,6}~[0-9]{1,6}(?:\.[^.]{0,3})?", re.ASCII)  # of a long one, on FAT and NTFS
_LONGEST_STEM: Final = 200  # bytes: with digits and suffix the name stays below the limit of 255


def is_entry_path(path: str) -> bool:
    """True if a note at that path can be an entry, ignoring case as many disks do."""
    return path.endswith(".md") and bool(folder_of(path)) and fold_name(path.rpartition("/")[2]) != INDEX_NOTE


def folder_of(path: str) -> str:
    """The folder of a note below `Agent/Memory`, such as `preference` or `_inbox`; `.` directly below it.

    Empty for a note that is not among the entries.
    """
    *folders, name = path.split("/")
    top = [fold_name(folder) for folder in folders[:3]]
    if not name or "/".join(top[:2]) != fold_name(MEMORY) or top[2:3] == [_META_FOLDER]:
        return ""
    return top[2] if len(top) > 2 else "."


def wordless_path(path: str) -> str:
    """The path without the words in the name of an entry: `Agent/Memory/fact/2026-03/*-3f9a1c.md`; others as they are.

    The words come from the entry's text. Commits name it like this, since a message cannot be erased with the entry.
    """
    match = _ENTRY_NAME.fullmatch(path.rpartition("/")[2]) if is_entry_path(path) else None
    return f"{path.rpartition('/')[0]}/*-{match[1]}.md" if match else path


def wordless_name(path: str) -> str:
    """What a commit message calls a note: an entry by its kind and id, `preference 3f9a1c`; others by their path."""
    digits = entry_digits(path)
    return f"{_kind_word(path)} {digits}" if digits else path


def entry_digits(path: str) -> str:
    """The digits of its id in the name of an entry; empty for other notes and other names."""
    name = path.rpartition("/")[2]
    match = is_entry_path(path) and ((is_staged(path) and _STAGED_NAME.fullmatch(name)) or _ENTRY_NAME.fullmatch(name))
    return match[1] if match else ""


def opaque_path(path: str) -> str:
    """The path of a sensitive entry: its name has its kind and its id, and none of its words; others as they are."""
    digits = entry_digits(path)
    return f"{path.rpartition('/')[0]}/{_kind_word(path)}-{digits}.md" if digits and not is_staged(path) else path


def masked_path(path: str, hidden: Collection[str]) -> str:
    """The path as a program may see it: without the words in the name of an entry whose digits are `hidden`."""
    return wordless_path(path) if hidden and entry_digits(path) in hidden else path


def _kind_word(path: str) -> str:
    kind = folder_of(path)
    return "entry" if kind[:1] in "_." else kind


def is_profile(path: str) -> bool:
    """True for `Agent/USER.md` and a channel's `CHANNEL.md`, even if the path hides it with invisible characters."""
    parts = folded_parts(path)
    return parts == folded_parts(USER_NOTE) or (
        len(parts) == 4 and parts[:2] == folded_parts(CHANNELS) and parts[3] == fold_name(CHANNEL_NOTE)
    )


def is_standing(path: str) -> bool:
    """True if prompts show the note as the person's word: an always-loaded note or a style."""
    return is_below(path, ALWAYS_LOAD) or is_below(path, STYLES)


def is_retold(path: str) -> bool:
    """True if jobs keep the note from other sources, whose words leave it when they are erased: a note of a day, a
    channel's note of a day, a project's progress, a digest. No search of the past shows what it said before.
    """
    parts = folded_parts(path)
    is_channel_day = parts[:2] == folded_parts(CHANNELS) and parts[3:4] == ("memories",)
    return is_below(path, DATED_NOTES) or is_report(path) or is_channel_day or "_harness" in parts[:-1]


def is_report(path: str) -> bool:
    """True for a digest: it tells the person what programs did, and nobody recalls it."""
    return is_below(path, DIGESTS)


def is_staged(path: str) -> bool:
    """True if the note waits for the person's approval."""
    return is_below(path, STAGING)


def was_staged(path: str) -> bool:
    """True if the note waits for the person's approval, or waited until they rejected it."""
    return is_staged(path) or is_below(path, REJECTED)


def is_always_loaded(path: str) -> bool:
    """True if the entry's folder alone puts it before every prompt."""
    return is_below(path, f"{MEMORY}/{ALWAYS_LOAD_FOLDER}")


def is_in_inbox(path: str) -> bool:
    """True if the note is in the person's Inbox."""
    folders = folded_parts(path)[:-1]
    return bool(folders) and _INBOX.fullmatch(folders[0]) is not None


def is_inbox(folder: str) -> bool:
    """True if the folder is the person's Inbox itself."""
    return len(parts := folded_parts(folder)) == 1 and _INBOX.fullmatch(parts[0]) is not None


def place_of(path: str) -> Place:
    """The stage of a note's life: `inbox`, `archive` or `staging`; empty for all other notes.

    A folder `_archive` is an archive anywhere in the vault: the person's, a project's or the agent's.
    """
    if is_staged(path):
        return "staging"
    folders = folded_parts(path)[:-1]
    if ARCHIVE_FOLDER in folders:
        return "archive"
    return "inbox" if is_in_inbox(path) or is_below(path, f"{MEMORY}/{INBOX_FOLDER}") else ""


def staging_path(path: str) -> str:
    """The path at which a note for `path` waits for review."""
    return f"{STAGING}/{flat_name(path)}"


def flat_name(path: str) -> str:
    """One file name for a whole path: always the same for that path, and different for every other.

    The path with dashes for slashes and six digits of its hash; sixteen digits if the path had to be cut.
    """
    path = unicodedata.normalize("NFC", path)
    stem, dot, suffix = path.replace("/", "-").rpartition(".")
    if not dot:
        stem, suffix = suffix, "md"
    digits = hashlib.sha256(path.encode(errors="surrogatepass")).hexdigest()
    short = stem.encode(errors="replace")[:_LONGEST_STEM].decode(errors="ignore")
    return f"{short}-{digits[: 6 if short == stem else 16]}.{suffix}"


def channel_folder(channel: str) -> str:
    """The folder of a channel."""
    return f"{CHANNELS}/{channel}"


_APART: Final = (PROBE_NOTE, f"{STYLES}/", f"{CHANNELS}/")  # all other notes may be shown for any prompt


def is_recallable(path: str, *, channel: str) -> bool:
    """True if a search for a prompt may show the note: not a style, not a self-probe, not from another channel."""
    if not path.startswith(_APART):
        return True
    return path != PROBE_NOTE and not path.startswith(f"{STYLES}/") and is_visible_in(path, channel=channel)


def is_visible_in(path: str, *, channel: str) -> bool:
    """True if the note belongs to that channel or to none; the notes of other channels stay private to them."""
    return not path.startswith(f"{CHANNELS}/") or bool(channel and path.startswith(f"{channel_folder(channel)}/"))


def newest_dated(paths: Iterable[str], *, today: str, limit: int) -> tuple[str, ...]:
    """The paths named for a day up to `today`, newest first, at most `limit` of them."""
    dated = [(match[1], path) for path in paths if (match := _DATED_NAME.fullmatch(path)) and match[1] <= today]
    return tuple(path for _, path in sorted(dated, reverse=True)[:limit])


def is_below(path: str, folder: str) -> bool:
    """True if the path lies below the folder on some file system; never for an empty folder."""
    parts, above = folded_parts(path), folded_parts(folder)
    return 0 < len(above) < len(parts) and parts[: len(above)] == above


def folded_parts(path: str) -> tuple[str, ...]:
    """The names in a path, folded; empty for a path that could lead elsewhere (absolute, `..` or a backslash)."""
    names = tuple(fold_name(_name_on_disk(name)) for name in path.split("/") if name not in ("", "."))
    return () if path.startswith("/") or "\\" in path or ".." in names else names


def is_ambiguous(path: str) -> bool:
    """True if some disk reads a name in the path as another one, or may: `Agent/_always-load ` or `_ALWAY~1`."""
    return any(_name_on_disk(name) != name or _SHORT_NAME.fullmatch(name) for name in path.split("/") if name != ".")


def _name_on_disk(name: str) -> str:
    """The name as the least careful disk reads it.

    NTFS drops blanks and dots at the end and takes what follows a colon for a stream, HFS+ skips characters that are
    invisible.
    """
    visible = name if name.isascii() else "".join(char for char in name if unicodedata.category(char) != "Cf")
    return visible.partition(":")[0].rstrip(" .") or name


def obsidian_link(path: str, *, vault: str, heading_path: Sequence[str] = ()) -> str:
    """The address that opens a note in Obsidian, at the innermost of these headings; empty for a vault without a name.

    Everything but ASCII letters, digits and `-._~` is percent-encoded, so that the address is safe to print.
    """
    if not vault:
        return ""
    heading = " ".join(_NO_HEADING_SIGNS.sub(" ", heading_path[-1]).split()) if heading_path else ""
    place = path.removesuffix(".md") + (f"#{heading}" if heading else "")
    return f"obsidian://open?vault={_quoted(vault)}&file={_quoted(place)}"


@lru_cache(maxsize=4096)  # a context has a hundred links, mostly the same as the last one
def _quoted(text: str) -> str:
    from urllib.parse import quote

    return quote(text, safe="", errors="replace")
