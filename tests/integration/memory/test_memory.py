"""`open_memory` and the verbs of `Memory`, as a program uses them."""

import asyncio
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from commonplace import Memory, NotFound, Refused, UsageError, VaultUnavailable, open_memory
from commonplace.app.stores import open_index
from commonplace.flows.stores import IndexParts
from tests.gitvault import git
from tests.vaults import make_vault


def commit_all(root: Path, monkeypatch: pytest.MonkeyPatch, when: str) -> None:
    """What a person commits by hand, at that moment."""
    for name in ("GIT_COMMITTER_DATE", "GIT_AUTHOR_DATE"):
        monkeypatch.setenv(name, when)
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "by hand")


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
    """No vault is guessed."""
    with pytest.raises(UsageError, match="no vault was given"):
        open_memory()


def test_an_unknown_actor_is_refused_at_once(sample: Path) -> None:
    """Before anything is opened; the hint lists the known ones."""
    with pytest.raises(UsageError, match="no actor is called 'bogus'") as wrong:
        open_memory(sample, actor="bogus")  # type: ignore[arg-type]

    assert wrong.value.hint == "Actors: person, agent, job."


def test_a_folder_that_is_not_there_is_unavailable(tmp_path: Path) -> None:
    """Opening it does not create it."""
    with pytest.raises(VaultUnavailable):
        open_memory(tmp_path / "gone")

    assert not (tmp_path / "gone").exists()


def test_a_section_that_is_not_there_is_not_found(sample: Path) -> None:
    """The hint lists the headings of the note."""
    memory: Memory = open_memory(sample)

    with pytest.raises(NotFound) as missing:
        memory.notes.section("Reviews/2026-W42.md", "Went badly")

    assert "Went well" in (missing.value.hint or "")


@pytest.mark.parametrize("inside", ["data", "link/data"])
def test_the_data_folder_may_not_lie_inside_the_vault(sample: Path, inside: str) -> None:
    """Not even behind a symbolic link."""
    (sample.parent / "link").symlink_to(sample)
    folder = sample / inside if inside == "data" else sample.parent / inside

    with pytest.raises(Refused, match="inside the vault"):
        open_memory(sample, settings={"data": folder})


def test_the_data_folder_of_the_home_may_not_lie_inside_the_vault(
    monkeypatch: pytest.MonkeyPatch, sample: Path
) -> None:
    """If the vault is the home folder, the data folder must be set to another place."""
    monkeypatch.setenv("XDG_DATA_HOME", str(sample / ".local/share"))

    with pytest.raises(Refused, match="inside the vault"):
        open_memory(sample)


def test_a_vault_in_memory_leaves_the_data_of_another_alone(tmp_path: Path, sample: Path) -> None:
    """An in-memory vault does not use the index and the history of the folder that is also named."""
    settings = {"vault.backend": "in-memory", "data": tmp_path / "data", "embedding.provider": "hashing"}
    with open_memory(sample, settings=settings) as memory:
        memory.notes.write("Inbox/Seed.md", b"The greenhouse.\n")
        memory.index.sync()
        found = [hit.path for hit in memory.search("greenhouse")]

    assert found == ["Inbox/Seed.md"]
    assert not (tmp_path / "data").exists()


def test_threads_at_first_use_share_one_index(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise each would have an index of its own, and in memory not see what the other wrote."""
    opened: list[IndexParts] = []
    both_are_here = threading.Barrier(2)

    def open_slowly(*args: Any, **options: Any) -> IndexParts:
        with suppress(threading.BrokenBarrierError):
            both_are_here.wait(timeout=0.3)
        opened.append(open_index(*args, **options))
        return opened[-1]

    monkeypatch.setattr("commonplace.app.stores.open_index", open_slowly)
    memory = open_memory(settings={"vault.backend": "in-memory"})
    threads = [threading.Thread(target=memory.index.stats) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(opened) == 1


def test_an_index_of_the_past_is_rebuilt_for_other_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Current settings decide which past notes are withheld or left out, including deleted ones."""
    root = make_vault(tmp_path / "vault")
    note = root / "Plan.md"
    note.write_text("---\nprivate: true\n---\nThe swordfish.\n", encoding="utf-8")
    commit_all(root, monkeypatch, "2026-03-01T12:00:00Z")
    note.unlink()
    commit_all(root, monkeypatch, "2026-05-01T12:00:00Z")
    plain = {"data": tmp_path / "data", "embedding.provider": "hashing"}

    def texts(**more: object) -> list[str]:
        settings = {**plain, **{name.replace("__", "."): value for name, value in more.items()}}
        with open_memory(root, actor="agent", settings=settings) as memory:
            return [hit.text for hit in memory.search("swordfish", as_of="2026-04-01") if hit.text]

    assert texts() == ["The swordfish."]
    assert texts(safety__sensitive_frontmatter_key="private") == []
    assert texts(sources__vault__enabled=False) == []


def test_an_agent_does_not_see_the_links_of_a_sensitive_note(tmp_path: Path) -> None:
    """Neither by the note nor in a check of the vault; its owner does."""
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault/Pay.md").write_text("---\nsensitive: true\n---\n[[Plan|fire Bob quietly]]\n")
    with open_memory(tmp_path / "vault", actor="agent", settings={"vault.backend": "device-local"}) as agent:
        with pytest.raises(Refused):
            agent.notes.links("Pay.md")
        told = agent.notes.check().links
    with open_memory(tmp_path / "vault", settings={"vault.backend": "device-local"}) as person:
        own = person.notes.check().links

    assert (told, [link.link.alias for link in own]) == ((), ["fire Bob quietly"])


def test_reading_a_note_loads_neither_search_nor_the_index(sample: Path) -> None:
    """Each noun is imported at first use, because that is most of the time a short command takes."""
    program = f"""
import sys
from commonplace import open_memory
with open_memory({str(sample)!r}) as memory:
    memory.notes.read("README.md")
print([name for name in ("numpy", "commonplace.memory.search", "commonplace.index.sqlite") if name in sys.modules])
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert ran.stdout == "[]\n"
