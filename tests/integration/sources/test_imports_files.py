"""A file, a folder and a zip are read the same way; what a zip must not do is refused with a clear error."""

import io
import os
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from commonplace.errors import UsageError
from commonplace.sources.imports import files as files_module
from commonplace.sources.imports.base import MAX_WHOLE_BYTES, head, read_whole
from commonplace.sources.imports.files import CountedFiles, InMemoryFiles, open_files
from tests.import_examples.build import zip_of


def write_zip(folder: Path, content: bytes, name: str = "export.zip") -> Path:
    file = folder / name
    file.write_bytes(content)
    return file


def test_a_folder_and_its_zip_have_the_same_files(tmp_path: Path) -> None:
    contents = {"a/conversations.json": b"[1]", "user.json": b"{}", "__MACOSX/._user.json": b"x", ".DS_Store": b"x"}
    folder = tmp_path / "export"
    for path, content in contents.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    zipped = open_files(write_zip(tmp_path, zip_of(contents), "no-ending"))

    assert list(open_files(folder).paths()) == list(zipped.paths()) == ["a/conversations.json", "user.json"]
    assert (
        read_whole(zipped, "a/conversations.json") == read_whole(open_files(folder), "a/conversations.json") == b"[1]"
    )


def test_one_file_has_its_name_as_path(tmp_path: Path) -> None:
    (tmp_path / "talk.md").write_bytes(b"User: hello")
    file = open_files(tmp_path / "talk.md")

    assert (list(file.paths()), file.size("talk.md"), head(file, "talk.md")) == (["talk.md"], 11, b"User: hello")


def test_links_are_left_out_with_a_reason(tmp_path: Path) -> None:
    (tmp_path / "export").mkdir()
    (tmp_path / "secret.json").write_text("{}")
    (tmp_path / "export" / "link.json").symlink_to(tmp_path / "secret.json")
    (tmp_path / "export" / "folder").symlink_to(tmp_path)
    folder = open_files(tmp_path / "export")

    assert list(folder.paths()) == []
    assert [skip.where for skip in folder.skips()] == ["folder", "link.json"]


def test_paths_out_of_a_zip_and_links_in_it_are_left_out(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("link.json")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(link, "/etc/passwd")
        for path in ("../up.json", "/root.json", "a/../../b.json", "C:\\windows.json", "a\\fine.json"):
            archive.writestr(path, "{}")
    zipped = open_files(write_zip(tmp_path, buffer.getvalue()))

    assert list(zipped.paths()) == ["a/fine.json"]
    assert len(zipped.skips()) == 5


def test_a_zip_bomb_is_refused_while_it_is_read(tmp_path: Path) -> None:
    bomb = open_files(write_zip(tmp_path, zip_of({"conversations.json": b"\0" * (64 * 1024 * 1024)})))

    with bomb.open("conversations.json") as stream, pytest.raises(UsageError, match="far more than its size"):
        stream.read()


def test_the_sum_of_what_is_unpacked_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files_module, "MAX_UNPACKED", 1000)
    zipped = open_files(write_zip(tmp_path, zip_of({f"{number}.json": os.urandom(400) for number in range(3)})))

    with pytest.raises(UsageError, match="far more"):
        [read_whole(zipped, path) for path in zipped.paths()]


def test_a_zip_and_a_folder_with_too_many_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files_module, "MAX_FILES", 5)
    many = {f"{number}.json": b"{}" for number in range(6)}
    with pytest.raises(UsageError, match="more than 5 files"):
        open_files(write_zip(tmp_path, zip_of(many)))
    folder = tmp_path / "many"
    folder.mkdir()
    for path in many:
        (folder / path).write_bytes(b"{}")
    with pytest.raises(UsageError, match="more than 5 files"):
        open_files(folder)


def encrypted(content: bytes) -> bytes:
    """The zip with the bit set that says its entries are encrypted."""
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = content.find(mark)
        content = content[: at + offset] + bytes([content[at + offset] | 1]) + content[at + offset + 1 :]
    return content


def with_wrong_sum(content: bytes) -> bytes:
    """The zip with a flipped bit in the stored bytes."""
    at = content.find(b"hello")
    return content[:at] + b"j" + content[at + 1 :]


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (encrypted, "encrypted"),
        (with_wrong_sum, "damaged"),
        (lambda content: content[: len(content) // 2], "damaged"),
        (lambda content: b"PK\x03\x04" + b"\0" * 100, "damaged"),
    ],
)
def test_a_damaged_or_encrypted_zip_is_an_error_with_a_hint(
    tmp_path: Path, damage: Callable[[bytes], bytes], words: str
) -> None:
    content = zip_of({"conversations.json": b"hello " * 1000}, compression=zipfile.ZIP_STORED)
    file = write_zip(tmp_path, damage(content))
    with pytest.raises(UsageError, match=words) as raised:
        read_whole(open_files(file), "conversations.json")

    assert "import the folder" in (raised.value.hint or "")


def test_a_zip_of_zips_is_read_as_one(tmp_path: Path) -> None:
    parts = {f"Export-Part-{number}.zip": zip_of({f"{number}.md": f"part {number}".encode()}) for number in (1, 2)}
    zipped = open_files(write_zip(tmp_path, zip_of(parts)))

    assert list(zipped.paths()) == ["1.md", "2.md"]
    assert read_whole(zipped, "2.md") == b"part 2"


def test_a_file_that_is_too_large_to_be_read_at_once_is_refused() -> None:
    with pytest.raises(UsageError, match="larger than 32 MB"):
        read_whole(InMemoryFiles({"a.md": b"x" * (MAX_WHOLE_BYTES + 1)}), "a.md")


def test_bytes_are_counted_as_they_are_read() -> None:
    counted = CountedFiles(InMemoryFiles({"a.md": b"x" * 5000, "b.md": b"y" * 5000}))
    read_whole(counted, "a.md")

    assert counted.done == 5000


@pytest.mark.parametrize("name", ["missing.zip", "missing/folder"])
def test_nothing_at_the_path_is_an_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="no such file or folder"):
        open_files(tmp_path / name)
