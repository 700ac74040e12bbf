"""`open_memory` and the verbs of `Memory`, as a program uses them."""

import asyncio
import threading
from pathlib import Path

import pytest

from commonplace import Memory, NotFound, Refused, UsageError, VaultUnavailable, open_memory


def test_the_library_reads_a_vault_in_process(sample: Path) -> None:
    """Open, read, and the note has its parts."""
    with open_memory(sample) as memory:
        note = memory.notes.read("People/Ada Lindqvist.md")

    assert (note.title, note.aliases, note.frontmatter["role"]) == ("Ada Lindqvist", ("Ada",), "Structural engineer")


@pytest.mark.requirement("D-17")
def test_a_read_note_has_content_frontmatter_time_and_size(sample: Path) -> None:
    """`content` (our `body`) excludes the frontmatter; mtime and size are the file's."""
    note = open_memory(sample).notes.read("Reviews/2026-W42.md")
    stat = (sample / "Reviews/2026-W42.md").stat()

    assert note.body.startswith("# Week 42")
    assert dict(note.frontmatter) == {"type": "review", "week": "2026-W42"}
    assert (note.mtime, note.size) == (stat.st_mtime, stat.st_size)


@pytest.mark.requirement("D-21")
def test_reads_can_run_off_the_event_loop(sample: Path) -> None:
    """Every read verb may be called from another thread, so an asynchronous program never blocks on a file."""
    memory = open_memory(sample)
    threads: set[int] = set()

    def read(path: str) -> str:
        threads.add(threading.get_ident())
        memory.notes.stat(path)
        memory.notes.links(path)
        return memory.notes.read(path).path

    async def all_at_once() -> list[str]:
        paths = [stat.path for stat in await asyncio.to_thread(memory.notes.list)]
        return await asyncio.gather(*[asyncio.to_thread(read, path) for path in paths])

    assert asyncio.run(all_at_once()) == [stat.path for stat in memory.notes.list()]
    assert threading.get_ident() not in threads


@pytest.mark.requirement("A-02")
def test_the_settings_name_the_backend_and_a_typo_fails_loud(sample: Path) -> None:
    """`vault.backend` picks the storage backend; an unknown one names the known ones."""
    with pytest.raises(UsageError, match="device-local"):
        open_memory(sample, settings={"vault.backend": "device-locl"})


@pytest.mark.requirement("A-03")
def test_the_same_verbs_work_on_another_backend() -> None:
    """Nothing above the seam knows where bytes land: an empty in-memory vault lists nothing, and needs no folder."""
    memory = open_memory(settings={"vault.backend": "in-memory"})

    assert memory.notes.list() == ()


def test_no_vault_at_all_is_a_usage_error() -> None:
    """With no vault named, none is guessed."""
    with pytest.raises(UsageError, match="no vault is named"):
        open_memory()


def test_a_folder_that_is_not_there_is_unavailable(tmp_path: Path) -> None:
    """It is not created by looking at it."""
    with pytest.raises(VaultUnavailable):
        open_memory(tmp_path / "gone")

    assert not (tmp_path / "gone").exists()


def test_a_section_that_is_not_there_is_not_found(sample: Path) -> None:
    """And the headings that are there are in the hint."""
    memory: Memory = open_memory(sample)

    with pytest.raises(NotFound) as missing:
        memory.notes.section("Reviews/2026-W42.md", "Went badly")

    assert "Went well" in (missing.value.hint or "")


@pytest.mark.parametrize("inside", ["data", "link/data"])
def test_the_data_folder_may_not_lie_inside_the_vault(sample: Path, inside: str) -> None:
    """Not even behind a symbolic link, and not by default either, when the vault holds the home folder."""
    (sample.parent / "link").symlink_to(sample)
    folder = sample / inside if inside == "data" else sample.parent / inside

    with pytest.raises(Refused, match="inside the vault"):
        open_memory(sample, settings={"data": folder})


def test_the_data_folder_of_the_home_may_not_lie_inside_the_vault(
    monkeypatch: pytest.MonkeyPatch, sample: Path
) -> None:
    """A vault over the whole home wants a data folder elsewhere."""
    monkeypatch.setenv("XDG_DATA_HOME", str(sample / ".local/share"))

    with pytest.raises(Refused, match="inside the vault"):
        open_memory(sample)
