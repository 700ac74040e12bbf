"""The seam for imports: a reader recognises files by their shape and yields what is in them, one item at a time.

Terms:
- files    what a person names: one file, a folder, or a zip; `ImportFiles` hides which of them it is.
- reader   knows one shape. `select` looks at the files and returns the paths that it would read, none if the shape is
           another one; names alone prove nothing, so it looks into a file too. `read` yields their items in a stream.
- item     a conversation, a note, an entry, or why something is not among them: a problem or a skip.

A reader stores nothing, and does not know what is stored: `flows.import_files` does that, and finds out what is new.
What a file says is untrusted. A reader raises UsageError only if nothing at all can be read; anything else that is
wrong is an `ImportProblem`, and the reading goes on.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO, Final, Protocol

from commonplace.errors import UsageError
from commonplace.model import Candidate, MemoryUse, Message

HEAD_BYTES: Final = 65_536
"""How much of a file `head` reads to recognise its shape."""
MAX_WHOLE_BYTES: Final = 32 * 1024 * 1024
"""The largest file that is read at once. Notes and transcripts are far smaller; exports are read as a stream."""


class ImportFiles(Protocol):
    """The files of one import. Paths are relative, with slashes, and never lead outside of what was named."""

    @property
    def name(self) -> str:
        """What the person named, for messages."""

    def paths(self) -> Sequence[str]:
        """All files, sorted; hidden folders such as .git, and links, are left out."""

    def size(self, path: str) -> int:
        """The bytes of a file. Raises UsageError if there is no such file."""

    def open(self, path: str) -> BinaryIO:
        """The bytes of a file, as a stream. Raises UsageError if it cannot be read."""

    def skips(self) -> Sequence["ImportSkip"]:
        """What is among the files and cannot be read, such as links and paths that lead out of a zip."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedConversation:
    """A conversation, and the program it was held in. `where` is its place in the files, for messages.

    `interface` is the name of that program, such as chatgpt, and `source_id` its id there: with both, a later export
    adds only its new messages. `captured` says that it is the program's own transcript on this machine, as hooks read
    it; `folders` are then the session's working folders. `unshown` counts messages that the program has and does not
    show, such as answers that were generated again. `memory` is what the person allowed it to be used for, there.
    """

    where: str
    interface: str
    messages: tuple[Message, ...]
    source_id: str = ""
    title: str = ""
    captured: bool = False
    folders: tuple[str, ...] = ()
    unshown: int = 0
    memory: MemoryUse = "on"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedNote:
    """A note: its path below the folder that imports go to, and its whole text, frontmatter included.

    If it is `in_place`, the path is from the root of the vault: the other program uses the folders that we use.
    """

    where: str
    path: str
    text: str
    in_place: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedEntry:
    """A statement that another memory held, to be saved as an entry.

    `source_id` is its id there; empty if it has none. `known_since` is when it was written down there, as text such as
    2026-03-01T09:12:44Z, empty if unknown: it is the start of its validity where the candidate has none. The flow sets
    the candidate's `origins`: the reader's kind and the trust `imported`. `note` is the path of the file whose whole
    text is this entry, empty if the file holds more: a note inside the vault becomes the entry where it is.
    """

    where: str
    candidate: Candidate
    source_id: str = ""
    known_since: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class ImportProblem:
    """Something that should have been read and could not: where, and what is wrong with it."""

    where: str
    message: str


@dataclass(frozen=True, slots=True)
class ImportSkip:
    """Something that was left out on purpose: where, and why."""

    where: str
    reason: str


ImportItem = ImportedConversation | ImportedNote | ImportedEntry | ImportProblem | ImportSkip


@dataclass(frozen=True, slots=True)
class ImportReader:
    """One shape that can be imported.

    `kind` is its name on the command line and the `interface` of what it yields, `title` what people call it, `files`
    says in a few words which files it reads.
    """

    kind: str
    title: str
    files: str
    select: Callable[[ImportFiles], Sequence[str]]
    read: Callable[[ImportFiles, Sequence[str]], Iterator[ImportItem]]


def head(files: ImportFiles, path: str, *, most: int = HEAD_BYTES) -> bytes:
    """The first bytes of a file; empty if it cannot be read."""
    try:
        with files.open(path) as stream:
            return stream.read(most)
    except (UsageError, OSError):
        return b""


def read_whole(files: ImportFiles, path: str, *, most: int = MAX_WHOLE_BYTES) -> bytes:
    """All bytes of a file. Raises UsageError if it is too large or cannot be read."""
    with files.open(path) as stream:
        content = stream.read(most + 1)
    if len(content) > most:
        raise UsageError(
            f"the file is larger than {most // 1024 // 1024} MB", path=path, hint="Split it, or leave it out."
        )
    return content
