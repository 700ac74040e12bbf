"""Rules of reading: bytes, versions, sizes, and what is said of a file that is not there."""

import hashlib

from commonplace.errors import NotFound, Refused
from commonplace.testing.contract import Check, MustRaise, Store, checks, put, require

_SAMPLES = {
    "empty": b"",
    "every byte": bytes(range(256)),
    "line ends": b"one\r\ntwo\nthree\r",
    "one megabyte": b"0123456789abcdef" * 65536,
}


def check_bytes_come_back_as_they_were_written(store: Store) -> None:
    """A file holds exactly the bytes that were written: none, any, or a megabyte of them."""
    backend = store.open()
    for number, (what, content) in enumerate(_SAMPLES.items()):
        put(backend, f"sample-{number}.bin", content)
        found = backend.read(backend.resolve(f"sample-{number}.bin")).content
        require(found == content, f"the sample '{what}' came back changed")


def check_a_version_is_the_sha256_of_the_bytes(store: Store) -> None:
    """The version of a file is the sha256 of its bytes in lower-case hexadecimal."""
    backend = store.open()
    put(backend, "note.md", b"text\n")
    found = backend.read(backend.resolve("note.md")).version
    require(found == hashlib.sha256(b"text\n").hexdigest(), f"the version is {found}, not the sha256 of the bytes")


def check_stat_tells_path_and_size(store: Store) -> None:
    """`stat` tells path and size without reading, and the same as `read` does."""
    backend = store.open()
    put(backend, "folder/note.md", b"seven b")
    at = backend.resolve("folder/note.md")
    stat = backend.stat(at)
    require((stat.path, stat.size) == ("folder/note.md", 7), f"stat says {stat} of a file of seven bytes")
    require(stat.mtime > 0, "stat tells no time")
    require(backend.read(at).stat == stat, "read and stat tell different things of one file")


def check_exists_tells_whether_a_file_is_there(store: Store) -> None:
    """`exists` is true of a file and false of a path where none is."""
    backend = store.open()
    put(backend, "note.md")
    require(backend.exists(backend.resolve("note.md")), "exists is false of a file that is there")
    for path in ("other.md", "folder/other.md", "note.md/other.md"):
        require(not backend.exists(backend.resolve(path)), f"exists is true of {path}, which is not there")


def check_a_missing_file_is_not_found(store: Store) -> None:
    """Reading a file that is not there raises NotFound with its path, and so does `stat`."""
    backend = store.open()
    put(backend, "note.md")
    for path in ("other.md", "folder/other.md", "note.md/other.md"):
        with MustRaise(NotFound, when=f"when {path} is read and not there") as read:
            backend.read(backend.resolve(path))
        require(read.error and read.error.path == path, f"NotFound does not carry the path {path}")
        with MustRaise(NotFound, when=f"when stat is asked for {path}, which is not there"):
            backend.stat(backend.resolve(path))


def check_a_folder_is_not_a_file(store: Store) -> None:
    """A folder cannot be read or written as if it were a file: Refused."""
    backend = store.open()
    put(backend, "folder/note.md")
    with MustRaise(Refused, when="when a folder is read"):
        backend.read(backend.resolve("folder"))
    with MustRaise(Refused, when="when a folder is written"):
        put(backend, "folder")


READING: tuple[Check, ...] = checks(
    check_bytes_come_back_as_they_were_written,
    check_a_version_is_the_sha256_of_the_bytes,
    check_stat_tells_path_and_size,
    check_exists_tells_whether_a_file_is_there,
    check_a_missing_file_is_not_found,
    check_a_folder_is_not_a_file,
)
