"""The journal: what a transaction is about to do, on disk before it does it, so that a crash can be recovered from.

It is one line of JSON in the user's state directory, next to the lock that guards it. A journal that cannot be parsed
was never complete, so nothing had begun.
"""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from commonplace.vault.base import Label
from commonplace.vault.syscalls import flush, flush_folder, translate_os_errors

_EMPTY_FILE = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_CLOEXEC", 0)


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """One path of a mutation: its versions before and after (ABSENT for no file), and what git had.

    `blob` is git's id of the bytes before, `head` and `staged` are the ids in HEAD and in the index;
    `mode` is that of the file before.
    """

    path: str
    before: str
    after: str
    mode: int | None
    blob: str | None
    head: str | None
    staged: str | None


@dataclass(frozen=True, slots=True)
class Journal:
    """One mutation: its id and label, its paths, the folders it will create, and the process and vault it is of."""

    mutation: str
    label: Label
    entries: tuple[JournalEntry, ...]
    folders: tuple[str, ...]
    pid: int
    started: str
    vault: str = ""  # the identity of the vault: another one may be in a folder with the same inode later

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths that the mutation changes."""
        return tuple(entry.path for entry in self.entries)


@dataclass(frozen=True, slots=True)
class UnfinishedJournal:
    """The journal of a mutation that did not end; None when it is torn."""

    journal: Journal | None


class JournalFile:
    """The file of a vault's journal; an empty file means no journal. Only the holder of the vault's lock may use it.

    The file is truncated and not removed, so that writing a journal costs one fsync and removing it none: should a
    crash of the machine bring an old one back, recovery finds its commit and has nothing to do.
    """

    def __init__(self, file: Path) -> None:
        self._file = file

    @property
    def path(self) -> str:
        """Where the file is."""
        return str(self._file)

    def write(self, journal: Journal) -> None:
        """Write the journal and fsync it. Raises VaultUnavailable, and then there is no journal."""
        try:
            with translate_os_errors(str(self._file), doing="write the journal"):
                self._write(as_text(journal).encode())
        except BaseException:
            self.remove()
            raise

    def read(self) -> UnfinishedJournal | None:
        """The journal of a mutation that did not end; None when there is none."""
        with translate_os_errors(str(self._file), doing="read the journal"):
            try:
                text = self._file.read_bytes().decode(errors="replace")
            except FileNotFoundError:
                return None
        return UnfinishedJournal(parse(text.partition("\n")[0])) if text else None

    def is_on_disk_of(self, folder: Path) -> bool:
        """True if the journal is on the same file system, which keeps the order of changes: it is gone no earlier."""
        with translate_os_errors(str(self._file), doing="examine"):
            return self._file.stat().st_dev == folder.stat().st_dev

    def set_aside(self) -> Path:
        """Keep the journal under another name, which is returned: it belongs to another vault."""
        aside = self._file.with_suffix(f".{os.urandom(4).hex()}.aside")
        with translate_os_errors(str(self._file), doing="set aside the journal"):
            self._file.rename(aside)
        return aside

    def remove(self) -> None:
        """Remove the journal by truncating its file."""
        with translate_os_errors(str(self._file), doing="empty the journal"):
            os.close(os.open(self._file, _EMPTY_FILE, 0o600))

    def _write(self, text: bytes) -> None:
        is_new = not self._file.exists()
        opened = os.open(self._file, _EMPTY_FILE, 0o600)
        try:
            while text:
                text = text[os.write(opened, text) :]
            flush(opened)
        finally:
            os.close(opened)
        if is_new:
            flush_folder(self._file.parent)


def as_text(journal: Journal) -> str:
    """The journal as a line of JSON."""
    return json.dumps(asdict(journal), separators=(",", ":")) + "\n"


def parse(line: str) -> Journal | None:
    """The journal in the line; None when it is not complete."""
    try:
        fields = json.loads(line)
        entries = tuple(JournalEntry(**entry) for entry in fields.pop("entries"))
        label = fields.pop("label")
        trailers = tuple((str(key), str(value)) for key, value in label["trailers"])
        folders = tuple(fields.pop("folders"))
        return Journal(label=Label(label["message"], trailers), entries=entries, folders=folders, **fields)
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
