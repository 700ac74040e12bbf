"""Rules of paths: which are refused, which are one, and whose locators a store takes."""

from collections.abc import Callable

from commonplace.errors import Conflict, NotFound, Refused, UsageError
from commonplace.testing.contract import Check, MustRaise, Store, checks, contents, put, require
from commonplace.vault.base import Locator, StorageBackend

ESCAPES = (
    *("", ".", "./", "..", "../x.md", "a/../../x.md", "a/../b.md", "a/..", "./../x.md"),
    *("/", "/etc/passwd", "//host/share/x.md", "C:\\x.md", "C:/x.md", "c:x.md", "\\\\host\\share", "..\\x.md"),
    *("a\x00.md", "a\nb.md", "\x1b[2J.md", "a\x7f.md"),
)
GIT_PATHS = (".git", ".git/config", "a/.git/hooks/x.md", ".GIT/config", ".git./config", ".git /x.md", "git~1/config")
_COMPOSED, _DECOMPOSED = "Caf\u00e9/Z\u00fcrich.md", "Cafe\u0301/Zu\u0308rich.md"


def check_a_path_out_of_the_store_is_refused(store: Store) -> None:
    """A path that is empty, absolute, steps up or holds control characters is Refused(path_escape)."""
    backend = store.open()
    for path in ESCAPES:
        with MustRaise(Refused, reason="path_escape", when=f"when {path!r} is resolved"):
            backend.resolve(path)
    for folder in ("..", "/", "a/../..", "C:\\"):
        with MustRaise(Refused, reason="path_escape", when=f"when the folder {folder!r} is listed"):
            backend.list(folder)


def check_the_folder_of_git_is_refused(store: Store) -> None:
    """No path leads into git's own folder, in whatever spelling some system would take for it."""
    backend = store.open()
    for path in GIT_PATHS:
        with MustRaise(Refused, when=f"when {path!r} is resolved"):
            backend.resolve(path)


def check_a_name_that_cannot_be_stored_is_refused(store: Store) -> None:
    """A name over 255 bytes, or one that is no valid text, is refused before anything is tried."""
    backend = store.open()
    for path in ("n" * 253 + ".md", "\u00e9" * 127 + ".md", "folder/\udcff.md"):
        with MustRaise(Refused, when=f"when {path!a} is resolved"):
            backend.resolve(path)
    put(backend, "n" * 252 + ".md")


def check_a_path_is_cleaned(store: Store) -> None:
    """Components `.` and doubled slashes mean nothing: the locator carries the clean path."""
    backend = store.open()
    put(backend, ".//folder/./note.md")
    require(list(contents(backend)) == ["folder/note.md"], f"the store holds {list(contents(backend))}")
    found = backend.resolve("folder//note.md").path
    require(found == "folder/note.md", f"folder//note.md resolves to {found}")


def check_a_locator_of_another_store_is_refused(store: Store) -> None:
    """A locator that another store made is a UsageError for every verb, even if its path exists here."""
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
    """A path that differs in case from a file is NotFound, and the hint names the file."""
    backend = store.open()
    put(backend, "Folder/Note.md")
    for path in ("Folder/note.md", "folder/Note.md"):
        with MustRaise(NotFound, when=f"when {path} is read and Folder/Note.md is there") as read:
            backend.read(backend.resolve(path))
        require(read.error and "Folder/Note.md" in (read.error.hint or ""), "the hint does not name Folder/Note.md")


def check_a_name_that_differs_in_case_is_a_conflict(store: Store) -> None:
    """A new file or folder may not differ from another in case alone: some systems would take the two for one."""
    backend = store.open()
    put(backend, "Folder/Note.md", b"first")
    before = contents(backend)
    for path in ("Folder/note.md", "folder/other.md"):
        with MustRaise(Conflict, when=f"when {path} is written and Folder/Note.md is there"):
            put(backend, path)
    require(contents(backend) == before, "a refused write changed the store")


def check_composed_and_decomposed_names_are_one(store: Store) -> None:
    """Names equal after Unicode normalisation are one file, and its path is as it was first written."""
    for first, second in ((_COMPOSED, _DECOMPOSED), (_DECOMPOSED.replace("Z", "Y"), _COMPOSED.replace("Z", "Y"))):
        backend = store.open()
        put(backend, first, b"before")
        kept = backend.resolve(first).path
        require(backend.read(backend.resolve(second)).content == b"before", "the other form is not found")
        put(backend, second, b"after")
        require(contents(backend).get(kept) == b"after", "a write in the other form did not reach the file")
        require(backend.resolve(second).path == kept, "the locator does not carry the name in the store")
        with backend.transaction() as changes:
            changes.delete(backend.resolve(second))
        require(contents(backend) == {}, "the two forms of a name were two files")


PATHS: tuple[Check, ...] = checks(
    check_a_path_out_of_the_store_is_refused,
    check_the_folder_of_git_is_refused,
    check_a_name_that_cannot_be_stored_is_refused,
    check_a_path_is_cleaned,
    check_a_locator_of_another_store_is_refused,
    check_a_file_of_another_case_is_not_this_file,
    check_a_name_that_differs_in_case_is_a_conflict,
    check_composed_and_decomposed_names_are_one,
)
