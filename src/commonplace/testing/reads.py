"""Rules of paths, reading, listing and watching: which paths are refused, what is read, listed and reported.

Changes in the store are reported soon after they happen, until the watcher is stopped.
"""

import hashlib
import threading
import time
from collections.abc import Callable, Iterator
from typing import Final, cast

from commonplace.errors import Conflict, NotFound, Refused, UsageError
from commonplace.testing.contract import (
    ContractBroken,
    ContractCheck,
    MustRaise,
    Store,
    checks,
    contents,
    filled,
    put,
    require,
)
from commonplace.vault.base import Capability, Locator, Skip, StorageBackend, WatchedBackend, WatchEvent

ESCAPES = (
    *("", ".", "./", "..", "../x.md", "a/../../x.md", "a/../b.md", "a/..", "./../x.md"),
    *("/", "/etc/passwd", "//host/share/x.md", "C:\\x.md", "C:/x.md", "c:x.md", "\\\\host\\share", "..\\x.md"),
    *("a\x00.md", "a\nb.md", "\x1b[2J.md", "a\x7f.md"),
)
GIT_PATHS = (".git", ".git/config", "a/.git/hooks/x.md", ".GIT/config", ".git./config", ".git /x.md", "git~1/config")
_COMPOSED, _DECOMPOSED = "Caf\u00e9/Z\u00fcrich.md", "Cafe\u0301/Zu\u0308rich.md"


def check_a_path_out_of_the_store_is_refused(store: Store) -> None:
    """A path that is empty, absolute, has `..` or contains control characters is Refused(path_escape)."""
    backend = store.open()
    for path in ESCAPES:
        with MustRaise(Refused, reason="path_escape", when=f"when {path!r} is resolved"):
            backend.resolve(path)
    for folder in ("..", "/", "a/../..", "C:\\"):
        with MustRaise(Refused, reason="path_escape", when=f"when the folder {folder!r} is listed"):
            backend.list(folder)


def check_the_folder_of_git_is_refused(store: Store) -> None:
    """No path leads into git's own folder, in any spelling that some system would accept for it."""
    backend = store.open()
    for path in GIT_PATHS:
        with MustRaise(Refused, when=f"when {path!r} is resolved"):
            backend.resolve(path)


def check_a_name_that_cannot_be_stored_is_refused(store: Store) -> None:
    """A name over 255 bytes, or one that is not valid text, is refused before anything is written."""
    backend = store.open()
    for path in ("n" * 253 + ".md", "\u00e9" * 127 + ".md", "folder/\udcff.md"):
        with MustRaise(Refused, when=f"when {path!a} is resolved"):
            backend.resolve(path)
    put(backend, "n" * 252 + ".md")


def check_a_path_is_cleaned(store: Store) -> None:
    """Components `.` and doubled slashes are ignored: the locator has the clean path."""
    backend = store.open()
    put(backend, ".//folder/./note.md")
    require(list(contents(backend)) == ["folder/note.md"], f"the store holds {list(contents(backend))}")
    path = backend.resolve("folder//note.md").path
    require(path == "folder/note.md", f"folder//note.md resolves to {path}")


def check_a_locator_of_another_store_is_refused(store: Store) -> None:
    """A locator of another store is a UsageError in every method, even if its path exists here."""
    backend = store.open()
    put(backend, "note.md")
    foreign = Locator("note.md", object())
    for verb, use in _verbs(foreign):
        with MustRaise(UsageError, when=f"when {verb} is given a locator of another store"):
            use(backend)


def _verbs(at: Locator) -> tuple[tuple[str, Callable[[StorageBackend], object]], ...]:
    def change(make: str, *more: object) -> Callable[[StorageBackend], object]:
        def use(backend: StorageBackend) -> None:
            with backend.transaction() as changes:
                getattr(changes, make)(at, *more)

        return use

    return (
        ("read", lambda backend: backend.read(at)),
        ("stat", lambda backend: backend.stat(at)),
        ("exists", lambda backend: backend.exists(at)),
        ("a transaction's read", change("read")),
        ("write", change("write", b"other")),
        ("delete", change("delete")),
        ("move", change("move", at)),
        ("derive", lambda backend: backend.derive(at, b"other")),
    )


def check_a_file_of_another_case_is_not_this_file(store: Store) -> None:
    """A path that differs from a file in case is NotFound, and the hint names the file."""
    backend = store.open()
    put(backend, "Folder/Note.md")
    for path in ("Folder/note.md", "folder/Note.md"):
        with MustRaise(NotFound, when=f"when {path} is read and Folder/Note.md is there") as read:
            backend.read(backend.resolve(path))
        require(read.error and "Folder/Note.md" in (read.error.hint or ""), "the hint does not name Folder/Note.md")


def check_a_name_that_differs_in_case_is_a_conflict(store: Store) -> None:
    """A new file or folder may not differ from another in case only: some systems would treat the two as one."""
    backend = store.open()
    put(backend, "Folder/Note.md", b"first")
    before = contents(backend)
    for path in ("Folder/note.md", "folder/other.md"):
        with MustRaise(Conflict, when=f"when {path} is written and Folder/Note.md is there"):
            put(backend, path)
    require(contents(backend) == before, "a refused write changed the store")


def check_composed_and_decomposed_names_are_one(store: Store) -> None:
    """Names that are equal after Unicode normalisation are one file, whose path is as it was first written."""
    for first, second in ((_COMPOSED, _DECOMPOSED), (_DECOMPOSED.replace("Z", "Y"), _COMPOSED.replace("Z", "Y"))):
        backend = store.open()
        put(backend, first, b"before")
        path = backend.resolve(first).path
        require(backend.read(backend.resolve(second)).content == b"before", "the file is not found by the other form")
        put(backend, second, b"after")
        require(contents(backend).get(path) == b"after", "a write in the other form did not reach the file")
        require(backend.resolve(second).path == path, "the locator does not have the name in the store")
        with backend.transaction() as changes:
            changes.delete(backend.resolve(second))
        require(contents(backend) == {}, "the two forms of a name were two files")


PATHS: tuple[ContractCheck, ...] = checks(
    check_a_path_out_of_the_store_is_refused,
    check_the_folder_of_git_is_refused,
    check_a_name_that_cannot_be_stored_is_refused,
    check_a_path_is_cleaned,
    check_a_locator_of_another_store_is_refused,
    check_a_file_of_another_case_is_not_this_file,
    check_a_name_that_differs_in_case_is_a_conflict,
    check_composed_and_decomposed_names_are_one,
)


_SAMPLES = {
    "empty": b"",
    "every byte": bytes(range(256)),
    "line ends": b"one\r\ntwo\nthree\r",
    "one megabyte": b"0123456789abcdef" * 65536,
}


def check_bytes_come_back_as_they_were_written(store: Store) -> None:
    """A file has exactly the bytes that were written: none, any values, or a megabyte of them."""
    backend = store.open()
    for number, (what, content) in enumerate(_SAMPLES.items()):
        put(backend, f"sample-{number}.bin", content)
        stored = backend.read(backend.resolve(f"sample-{number}.bin")).content
        require(stored == content, f"the sample '{what}' came back changed")


def check_a_version_is_the_sha256_of_the_bytes(store: Store) -> None:
    """The version of a file is the sha256 of its bytes in lower-case hexadecimal."""
    backend = store.open()
    put(backend, "note.md", b"text\n")
    version = backend.read(backend.resolve("note.md")).version
    require(version == hashlib.sha256(b"text\n").hexdigest(), f"the version is {version}, not the sha256 of the bytes")


def check_stat_tells_path_and_size(store: Store) -> None:
    """`stat` returns path and size without reading, and agrees with `read`."""
    backend = store.open()
    put(backend, "folder/note.md", b"seven b")
    at = backend.resolve("folder/note.md")
    stat = backend.stat(at)
    require((stat.path, stat.size) == ("folder/note.md", 7), f"stat returns {stat} for a file of seven bytes")
    require(stat.mtime > 0, "stat returns no modification time")
    require(backend.read(at).stat == stat, "read and stat disagree on one file")


def check_stats_is_stat_of_several_files(store: Store) -> None:
    """`stats` returns what `stat` returns for each file, by the path given, and leaves out what is no file."""
    backend = store.open()
    files = ("folder/one.md", "folder/two.md", "folder/deep/three.md", "four.md")
    for number, path in enumerate(files):
        put(backend, path, b"x" * number)
    given = {path: backend.stat(backend.resolve(path)) for path in (*files, "./folder//one.md")}
    others = ("folder", "folder/none.md", "none/one.md", "four.md/one.md", "../four.md", "")
    stats = dict(backend.stats((*given, *others)))
    require(stats == given, f"stats returns {stats} where stat returns {given}")
    require(dict(backend.stats(())) == {}, "stats of no paths returns something")


def check_exists_tells_whether_a_file_is_there(store: Store) -> None:
    """`exists` is true for a file and false for a path without one."""
    backend = store.open()
    put(backend, "note.md")
    require(backend.exists(backend.resolve("note.md")), "exists is false for an existing file")
    for path in ("other.md", "folder/other.md", "note.md/other.md"):
        require(not backend.exists(backend.resolve(path)), f"exists is true for {path}, which does not exist")


def check_a_missing_file_is_not_found(store: Store) -> None:
    """Reading a file that does not exist raises NotFound with its path, and so does `stat`."""
    backend = store.open()
    put(backend, "note.md")
    for path in ("other.md", "folder/other.md", "note.md/other.md"):
        with MustRaise(NotFound, when=f"when {path}, which does not exist, is read") as read:
            backend.read(backend.resolve(path))
        require(read.error and read.error.path == path, f"NotFound does not carry the path {path}")
        with MustRaise(NotFound, when=f"when stat is called on {path}, which does not exist"):
            backend.stat(backend.resolve(path))


def check_a_folder_is_not_a_file(store: Store) -> None:
    """A folder cannot be read or written like a file: Refused."""
    backend = store.open()
    put(backend, "folder/note.md")
    with MustRaise(Refused, when="when a folder is read"):
        backend.read(backend.resolve("folder"))
    with MustRaise(Refused, when="when a folder is written"):
        put(backend, "folder")


READING: tuple[ContractCheck, ...] = checks(
    check_bytes_come_back_as_they_were_written,
    check_a_version_is_the_sha256_of_the_bytes,
    check_stat_tells_path_and_size,
    check_stats_is_stat_of_several_files,
    check_exists_tells_whether_a_file_is_there,
    check_a_missing_file_is_not_found,
    check_a_folder_is_not_a_file,
)


_PATHS = ("b.md", "a.md", "Folder/two.md", "Folder/deep/three.md", "Folder.md", "Folder and more/four.md")
_FILES = dict.fromkeys(_PATHS, b"text\n")


def _paths(backend: StorageBackend, folder: str = "", *, recursive: bool = True) -> list[str]:
    return [stat.path for stat in backend.list(folder, recursive=recursive).files]


def check_a_listing_has_every_file_in_order(store: Store) -> None:
    """A listing has every file of the store once, sorted by path."""
    paths = _paths(filled(store, _FILES))
    require(sorted(paths) == sorted(_PATHS), f"the listing has {paths}, the store {sorted(_PATHS)}")
    require(paths == sorted(paths), f"the listing is not sorted: {paths}")


def check_a_listing_can_stay_in_one_folder(store: Store) -> None:
    """Without `recursive`, a listing has the files of one folder and none below it."""
    backend = filled(store, _FILES)
    for folder, expected in (("", ["Folder.md", "a.md", "b.md"]), ("Folder", ["Folder/two.md"])):
        paths = _paths(backend, folder, recursive=False)
        require(paths == expected, f"the listing of '{folder}' alone is {paths}, not {expected}")


def check_a_listing_can_start_in_a_folder(store: Store) -> None:
    """A listing of a folder has the files below it, with full paths, and none of folders with the same prefix."""
    paths = _paths(filled(store, _FILES), "Folder")
    require(paths == ["Folder/deep/three.md", "Folder/two.md"], f"the listing of 'Folder' is {paths}")


def check_skip_leaves_out_files_and_whole_folders(store: Store) -> None:
    """`skip` leaves out the files it names; a folder, passed with a trailing slash, is left out entirely."""
    backend = filled(store, _FILES)
    paths = [stat.path for stat in backend.list(skip=lambda path: path in ("a.md", "Folder/deep/")).files]
    require("a.md" not in paths, "a file that skip names is listed")
    require("Folder/deep/three.md" not in paths, "a file in a folder that skip names is listed")
    require(len(paths) == len(_PATHS) - 2, f"skip left out more than it named: {paths}")


def check_an_empty_store_lists_nothing(store: Store) -> None:
    """Listing an empty store returns no files."""
    require(store.open().list().files == (), "the listing of an empty store is not empty")


def check_a_missing_folder_is_not_found(store: Store) -> None:
    """Listing a folder that does not exist raises NotFound, not an empty listing; so does listing a file."""
    backend = filled(store, _FILES)
    for folder in ("missing", "Folder/missing", "a.md"):
        with MustRaise(NotFound, when=f"when '{folder}', which is not a folder, is listed"):
            backend.list(folder)


LISTING: tuple[ContractCheck, ...] = checks(
    check_a_listing_has_every_file_in_order,
    check_a_listing_can_stay_in_one_folder,
    check_a_listing_can_start_in_a_folder,
    check_skip_leaves_out_files_and_whole_folders,
    check_an_empty_store_lists_nothing,
    check_a_missing_folder_is_not_found,
)


_TIMEOUT_S: Final = 10.0
"""After this time a change that was not reported counts as missed."""

_STOP_TIMEOUT_S = 2.0
"""After this time a watcher that has not stopped counts as running on."""

_STEP: Final = 0.05
_WATCHED_FILES: Final = {
    "Folder/one.md": b"one",
    "Folder/two.md": b"two",
    "Folder/deep/three.md": b"three",
    "note.md": b"note",
}


def check_a_save_is_seen(store: Store) -> None:
    """A new file is reported as saved, and so is one that is saved again."""
    backend = filled(store, _WATCHED_FILES)
    watching = _Watching(backend)
    put(backend, "new.md")
    watching.wait_for(lambda: watching.last_kind("new.md") == "saved", "a new file")
    put(backend, "new.md", b"more\n")
    watching.wait_for(lambda: watching.kinds("new.md").count("saved") > 1, "a file that was saved again")


def check_a_removal_is_seen(store: Store) -> None:
    """A removed file is reported as gone."""
    backend = filled(store, _WATCHED_FILES)
    watching = _Watching(backend)
    with backend.transaction() as changes:
        changes.delete(backend.resolve("note.md"))
    watching.wait_for(lambda: watching.last_kind("note.md") == "gone", "the removal of a file")


def check_a_move_is_seen(store: Store) -> None:
    """A moved file is reported as gone from its old path and as saved at the new one."""
    backend = filled(store, _WATCHED_FILES)
    watching = _Watching(backend)
    _move(backend, {"note.md": "moved.md"})
    watching.wait_for(lambda: watching.has_moved("note.md", "moved.md"), "the move of a file")


def check_a_replaced_file_ends_as_saved(store: Store) -> None:
    """Saving as editors do, by replacing the old file with another, ends with that path reported as saved."""
    backend = filled(store, _WATCHED_FILES)
    watching = _Watching(backend)
    put(backend, "note.md~", b"new text")
    with backend.transaction() as changes:
        changes.delete(backend.resolve("note.md"))
    _move(backend, {"note.md~": "note.md"})
    put(backend, "last.md")
    watching.wait_for(lambda: watching.last_kind("last.md") == "saved", "the save after a replacement")
    watching.wait_for(lambda: watching.is_quiet, "the end of what happened")
    last = watching.last_kind("note.md")
    require(last == "saved", f"the last event for a replaced file is {last}")


def check_a_renamed_folder_is_seen(store: Store) -> None:
    """When all files of a folder move to another, each is reported, or the folders are."""
    backend = filled(store, _WATCHED_FILES)
    watching = _Watching(backend)
    moves = {path: f"Renamed/{path}" for path in _WATCHED_FILES if path.startswith("Folder/")}
    _move(backend, moves)
    renaming = "the renaming of a folder"
    watching.wait_for(lambda: all(watching.has_moved(old, new) for old, new in moves.items()), renaming)


def check_skipped_paths_are_not_seen(store: Store) -> None:
    """Paths that a listing leaves out are not reported: neither a file that skip names, nor one in such a folder."""
    backend = filled(store, _WATCHED_FILES)
    watching = _Watching(backend, skip=lambda path: path in ("skipped.md", "Skipped/"))
    put(backend, "skipped.md")
    put(backend, "Skipped/deep/one.md")
    put(backend, "last.md")
    watching.wait_for(lambda: watching.last_kind("last.md") == "saved", "a file that is not skipped")
    reported = [event.path for event in watching.events if event.path.casefold().startswith("skipped")]
    require(not reported, f"skipped paths were reported: {reported}")


def check_stop_ends_the_watching(store: Store) -> None:
    """When `stop` is set, the iterator ends within two seconds."""
    watching = _Watching(filled(store, _WATCHED_FILES))
    watching.look()
    watching.stop.set()
    watching.wait_for(lambda: watching.has_ended, "that it should stop", within=_STOP_TIMEOUT_S)


class _Watching:
    """A watcher of a store, and all events it has received so far."""

    def __init__(self, backend: StorageBackend, *, skip: Skip | None = None) -> None:
        self.stop = threading.Event()
        self.events: list[WatchEvent] = []
        self.has_ended = False
        self.is_quiet = False
        self._batches: Iterator[tuple[WatchEvent, ...]] = cast(WatchedBackend, backend).watch(
            stop=self.stop, skip=skip, step=_STEP
        )

    def look(self) -> None:
        """Receive the next tuple of events."""
        events = next(self._batches, None)
        self.has_ended, self.is_quiet = events is None, events == ()
        self.events.extend(events or ())

    def wait_for(self, happened: Callable[[], bool], what: str, *, within: float = _TIMEOUT_S) -> None:
        """Receive events until the condition is true. Raises ContractBroken after a timeout."""
        deadline = time.monotonic() + within
        while not happened():
            if self.has_ended or time.monotonic() > deadline:
                self.stop.set()
                raise ContractBroken(f"the watcher does not report {what}; its events are {self.events}")
            self.look()

    def kinds(self, path: str) -> list[str]:
        """The kinds of all events for the path itself."""
        return [event.kind for event in self.events if event.path == path]

    def last_kind(self, path: str) -> str | None:
        """The kind of the last event for the path itself."""
        return next(iter(reversed(self.kinds(path))), None)

    def has_moved(self, old: str, new: str) -> bool:
        """True if events for the paths, or for folders above them, show the move."""
        covering = {event.path: event.kind for event in self.events}
        from_old = {covering[path] for path in _upwards(old) if path in covering}
        to_new = {covering[path] for path in _upwards(new) if path in covering}
        return bool(from_old & {"gone", "folder"}) and bool(to_new & {"saved", "folder"})


def _upwards(path: str) -> list[str]:
    """The path and all folders above it, including the root."""
    names = path.split("/")
    return ["/".join(names[:depth]) for depth in range(len(names), -1, -1)]


def _move(backend: StorageBackend, moves: dict[str, str]) -> None:
    with backend.transaction() as changes:
        for old, new in moves.items():
            changes.move(backend.resolve(old), backend.resolve(new))


WATCHING: tuple[ContractCheck, ...] = checks(
    check_a_save_is_seen,
    check_a_removal_is_seen,
    check_a_move_is_seen,
    check_a_replaced_file_ends_as_saved,
    check_a_renamed_folder_is_seen,
    check_skipped_paths_are_not_seen,
    check_stop_ends_the_watching,
    needs=Capability.WATCHED,
)
