"""Which files are read as transcripts, and how they are read on after they grew, shrank or were replaced."""

import os
from pathlib import Path

import pytest

from commonplace.daemon.capture.queue import (
    TranscriptPart,
    check_transcript_path,
    cursor_at,
    next_line,
    next_part,
    open_transcript,
    transcript_folders,
)
from commonplace.errors import Refused, UsageError
from commonplace.model import TranscriptCursor
from tests.transcript_lines import claude_folder


@pytest.fixture
def folder() -> Path:
    """The folder of a project, below the home of this test."""
    return claude_folder(Path.home())


def checked(path: Path | str, *more: str) -> Path:
    """The path, if it may be read as one of Claude Code's."""
    return check_transcript_path(str(path), folders=transcript_folders("claude-code", more=more))


def content(path: Path) -> bytes:
    """What a daemon reads at that path."""
    with open_transcript(path, folders=transcript_folders("claude-code", more=())) as file:
        return next_part(file, TranscriptCursor(), most=1000, longest=1000).content


def test_transcripts_lie_in_the_folders_of_their_host(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Those below home and where its variable says, for a person may use both; and those that the settings add."""
    home = os.path.realpath(Path.home())

    assert transcript_folders("claude-code", more=()) == (Path(home, ".claude/projects"),)
    assert transcript_folders("codex", more=("~/more", "no/path")) == (
        Path(home, ".codex/sessions"),
        Path(home, "more"),
    )
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path))
    assert transcript_folders("claude-code", more=()) == (tmp_path / "projects", Path(home, ".claude/projects"))
    assert transcript_folders("codex", more=()) == (tmp_path / "sessions", Path(home, ".codex/sessions"))
    with pytest.raises(UsageError, match="notepad"):
        transcript_folders("notepad", more=())


def test_a_transcript_need_not_be_there_yet(folder: Path) -> None:
    """A host may write it later."""
    assert checked(folder / "s1.jsonl") == Path(os.path.realpath(folder)) / "s1.jsonl"


@pytest.mark.parametrize(
    "named",
    [
        "{home}/.claude/settings.jsonl",
        "{home}/.claude/projects.jsonl",
        "{folder}/../../secret.jsonl",
        "{folder}/../../../.ssh/id.jsonl",
        "{folder}/s1.json",
        "{folder}/s1",
        "{folder}",
        ".claude/projects/s1.jsonl",
        "/etc/passwd",
        "{folder}/a\0b.jsonl",
        "",
    ],
)
def test_any_other_path_is_refused(folder: Path, named: str) -> None:
    """Any program of this user may call a hook, and name any file."""
    with pytest.raises(Refused):
        checked(named.format(home=Path.home(), folder=folder))


def test_a_link_that_leads_out_is_refused_and_one_that_stays_inside_is_followed(folder: Path, tmp_path: Path) -> None:
    """The real path counts; also through a folder that is a link."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "s1.jsonl").write_text("{}\n")
    (folder / "file.jsonl").symlink_to(tmp_path / "out" / "s1.jsonl")
    (folder / "folder").symlink_to(tmp_path / "out")
    (folder / "real.jsonl").write_text("{}\n")
    (folder / "inside.jsonl").symlink_to(folder / "real.jsonl")

    for name in ("file.jsonl", "folder/s1.jsonl"):
        with pytest.raises(Refused):
            checked(folder / name)
    assert content(checked(folder / "inside.jsonl")) == b"{}\n"
    assert checked(folder / "file.jsonl", str(tmp_path / "out")) == tmp_path / "out" / "s1.jsonl"


@pytest.mark.parametrize("swapped", ["file", "folder"])
def test_a_link_that_is_put_in_place_after_the_look_is_not_followed(folder: Path, tmp_path: Path, swapped: str) -> None:
    """Neither the file nor a folder on the way can be swapped."""
    (folder / "inner").mkdir()
    path = checked(folder / "inner" / "s1.jsonl")
    (tmp_path / "s1.jsonl").write_text("secret\n")
    if swapped == "file":
        path.symlink_to(tmp_path / "s1.jsonl")
    else:
        (folder / "inner").rmdir()
        (folder / "inner").symlink_to(tmp_path)

    with pytest.raises(OSError, match=r"symbolic links|Not a directory"):
        content(path)


def test_only_a_regular_file_is_read(folder: Path) -> None:
    """A pipe would never end; a folder is no file."""
    real = Path(os.path.realpath(folder))
    os.mkfifo(folder / "pipe.jsonl")
    (folder / "folder.jsonl").mkdir()

    for name in ("pipe.jsonl", "folder.jsonl"):
        with pytest.raises(Refused, match="not a file of this user"):
            content(real / name)
    with pytest.raises(Refused, match="not in the folders"):
        content(Path("/etc/s1.jsonl"))


def test_a_file_of_another_user_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody puts words into this person's mouth."""
    (folder / "s1.jsonl").write_text("{}\n")
    monkeypatch.setattr(os, "getuid", lambda: os.geteuid() + 1)

    with pytest.raises(Refused, match="not a file of this user"):
        content(checked(folder / "s1.jsonl"))


def piece(
    path: Path, cursor: TranscriptCursor, *, most: int = 1000, longest: int = 1000
) -> tuple[TranscriptPart, TranscriptCursor]:
    """What comes next, and the cursor behind it."""
    file = os.open(path, os.O_RDONLY)
    try:
        found = next_part(file, cursor, most=most, longest=longest)
        return found, cursor_at(file, found.start + len(found.content), name="")
    finally:
        os.close(file)


def test_a_file_that_grew_is_read_on(tmp_path: Path) -> None:
    """From where it ended."""
    path = tmp_path / "s1.jsonl"
    path.write_text("one\n" * 3000)
    first, cursor = piece(path, TranscriptCursor(), most=20_000)
    with path.open("a") as file:
        file.write("two\n")
    second, cursor = piece(path, cursor)
    third, _ = piece(path, cursor)

    assert (len(first.content), first.is_last) == (12_000, True)
    assert (second.content, second.start) == (b"two\n", 12_000)
    assert third.content == b""


@pytest.mark.parametrize("text", ["", "one\n", "zwei\ndrei\nvier\n", "one\ntw0\nthree\n"])
def test_a_file_that_is_another_text_is_read_from_its_beginning(tmp_path: Path, text: str) -> None:
    """Shorter, longer or of the same length."""
    path = tmp_path / "s1.jsonl"
    path.write_text("one\ntwo\nthree\n")
    _, cursor = piece(path, TranscriptCursor())
    path.write_text(text)
    again, _ = piece(path, cursor)

    assert (again.start, again.content.decode()) == (0, text)


def test_a_file_that_was_replaced_by_the_same_text_is_read_on(tmp_path: Path) -> None:
    """Some programs write the whole file anew."""
    path = tmp_path / "s1.jsonl"
    path.write_text("one\n")
    _, cursor = piece(path, TranscriptCursor())
    (tmp_path / "new").write_text("one\ntwo\n")
    (tmp_path / "new").replace(path)

    assert piece(path, cursor)[0].content == b"two\n"


def test_a_large_file_comes_in_pieces_and_a_long_line_as_a_whole(tmp_path: Path) -> None:
    """At most so much is held in memory."""
    path = tmp_path / "s1.jsonl"
    path.write_text("short\n" + "x" * 50 + "\n" + "y" * 500 + "\n" + "end\n")
    first, cursor = piece(path, TranscriptCursor(), most=10, longest=100)
    file = os.open(path, os.O_RDONLY)
    second = next_part(file, cursor_at(file, 6, name=""), most=10, longest=100)
    third = next_part(file, cursor_at(file, 57, name=""), most=10, longest=100)
    behind = next_line(file, 57 + 100)
    os.close(file)

    assert (first.content, first.is_last, cursor.offset) == (b"short\nxxxx", False, 10)
    assert b"\n" in second.content
    assert third.content == b"y" * 100
    assert behind == 558
