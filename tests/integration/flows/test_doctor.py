"""The doctor: each thing that could be wrong is looked at, and said with its remedy."""

import os
import shutil
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from commonplace.app.models import make_models
from commonplace.flows.doctor import examine
from commonplace.flows.ingest.sync import rebuild, sync
from commonplace.flows.stores import Stores
from commonplace.history.base import ModelState, NewThread, UnfinishedErasure
from commonplace.history.sqlite.history import SqliteHistory
from commonplace.llm.options import TASKS
from commonplace.model import Finding, Message
from commonplace.model.learning import LearningState
from commonplace.model.upkeep import JobState
from commonplace.notes.chunks import last_sentences
from commonplace.settings.load import load_settings
from commonplace.sources.conversations import ConversationSource
from commonplace.vault.base import StorageBackend
from commonplace.vault.obsidian import ObsidianVault
from tests.gitvault import AUTHOR, git, new_vault
from tests.llm_server import MODEL, serving_models
from tests.stores import CountingEncoder, close, make_stores, save


@pytest.fixture
def root(tmp_path: Path) -> Path:
    new_vault(tmp_path / "vault", note="words\n")
    return tmp_path / "vault"


@pytest.fixture
def encoder() -> CountingEncoder:
    return CountingEncoder()


@pytest.fixture
def backend(root: Path) -> StorageBackend:
    return ObsidianVault(root, author=AUTHOR)


@pytest.fixture
def least() -> int:
    return 1


def wrong(stores: Stores) -> dict[str, Finding]:
    return {finding.what: finding for finding in examine(stores) if not finding.ok}


def test_all_is_well_after_a_sync(stores: Stores) -> None:
    """Vault, git, history, encoder and index are looked at, and each says what it saw."""
    sync(stores)
    findings = examine(stores)

    assert [(finding.what, finding.ok) for finding in findings] == [
        ("vault", True),
        ("git", True),
        ("history", True),
        ("encoder", True),
        ("vectors", True),
        ("models", True),
        ("index", True),
        ("facts", True),
        ("review", True),
        ("learning", True),
        ("jobs", True),
    ]
    assert findings[2].said == "no change yet, 0 conversations"
    assert "1 note, 1 chunk, synced 20" in findings[-5].said
    assert findings[-3].said == "nothing waits for your review"
    assert findings[-2].said == "by rules: 0 sources to read, 0 parts today"
    assert findings[-1].said == "no scheduled job has run yet"


def test_a_job_that_is_parked_is_a_finding(stores: Stores) -> None:
    """With the reason, and the command that tries it again."""
    stores.history.save_job_state(JobState(job="probe", failures=3, reason="the disk is full", is_parked=True))
    found = wrong(stores)["jobs"]

    assert "probe failed 3 times in a row and is parked: the disk is full" in found.said
    assert "commonplace jobs run probe" in found.remedy


def test_a_conversation_that_is_parked_is_a_finding(stores: Stores) -> None:
    """With the reason, and what to do about it."""
    state = LearningState(source="c-1", failures=3, reason="the answer is no JSON", is_parked=True)
    stores.history.save_learning_state(state)
    found = wrong(stores)["learning"]

    assert "c-1 could not be read 3 times: the answer is no JSON" in found.said
    assert "--retry" in found.remedy


def test_the_history_tells_how_many_conversations_it_keeps(stores: Stores) -> None:
    """They are nowhere else: whoever looks for a lost one sees it here."""
    for number in range(3):
        thread, now = NewThread("chatgpt", str(number)), datetime(2026, 3, 1, tzinfo=UTC)
        stores.history.record_conversation(thread, [Message("user", "a")], now=now)

    assert next(each.said for each in examine(stores) if each.what == "history").endswith(", 3 conversations")


def test_an_index_that_was_never_made_or_is_behind_wants_a_sync(stores: Stores, root: Path) -> None:
    """New, changed and removed notes count."""
    never = wrong(stores)["index"]
    sync(stores)
    save(root, "new.md", "words\n")
    behind = wrong(stores)["index"]

    assert ("never synced" in never.said, never.remedy) == (True, "Run `commonplace sync`.")
    assert ("1 changed since" in behind.said, behind.remedy) == (True, "Run `commonplace sync`.")


def test_what_is_wrong_in_a_note_is_named_with_its_line(stores: Stores, root: Path) -> None:
    """A broken block, and a copy that a sync program left; nothing is repaired."""
    save(root, "broken.md", "---\ntitle: x\ntags: [a\n---\nText.\n")
    save(root, "note.sync-conflict-20260101-120000-ABCDEFG.md", "words of the other device\n")
    sync(stores)
    found = [finding for finding in examine(stores) if finding.path and not finding.ok]
    conflict = next(finding for finding in found if finding.what == "sync-conflict")
    broken = next(finding for finding in found if finding.path == "broken.md")

    assert conflict.path == "note.sync-conflict-20260101-120000-ABCDEFG.md"
    assert "copy of note.md" in conflict.said
    assert broken.line > 1
    assert all(finding.remedy for finding in found)


def test_a_missing_encoder_is_named_with_its_remedy(root: Path, tmp_path: Path) -> None:
    """Search goes on by words; the doctor says how to get the rest."""
    stores = make_stores(root, tmp_path / "data", encoder=None, vault=ObsidianVault(root, author=AUTHOR))
    sync(stores)
    found = wrong(stores)

    assert found.keys() == {"encoder"}
    assert (found["encoder"].said, found["encoder"].remedy) == (
        "search by meaning is off: no encoder is installed",
        "Run `commonplace model install`.",
    )
    close(stores)


def test_a_part_that_fails_does_not_end_the_look(stores: Stores, root: Path, tmp_path: Path) -> None:
    """A damaged index, a failing encoder and a repository in the middle of a merge are all told."""
    sync(stores)
    stores.index.close()
    (tmp_path / "data/index/index.db").write_bytes(b"no database at all, whatever its name says" * 100)
    for log in (tmp_path / "data/index").glob("*-wal"):
        log.unlink()
    (root / ".git/MERGE_HEAD").write_text(git(root, "rev-parse", "HEAD"))
    failing = CountingEncoder(fails=True)
    found = wrong(stores.using(encoders=replace(stores.encoders, current=failing)))

    assert found.keys() == {"git", "encoder", "index", "facts", "review", "learning"}
    assert "rebuild" in found["index"].remedy
    assert "does not answer" in found["encoder"].said


def test_a_damaged_segment_is_told_and_mended_by_a_sync(root: Path, tmp_path: Path) -> None:
    """Bytes that changed while the file's time did not: the doctor says it, and what it says helps."""
    made = make_stores(root, tmp_path / "data", least=1, vault=ObsidianVault(root, author=AUTHOR))
    sync(made)
    close(made)
    (segment,) = (tmp_path / "data/index").glob("*.segments/*.segment")
    status, content = segment.stat(), bytearray(segment.read_bytes())
    content[-200:] = bytes(each ^ 0x5A for each in content[-200:])
    segment.write_bytes(content)
    os.utime(segment, ns=(status.st_atime_ns, status.st_mtime_ns))
    stores = make_stores(root, tmp_path / "data", least=1, vault=ObsidianVault(root, author=AUTHOR))
    found = wrong(stores)["index"]

    assert segment.name in found.said
    assert found.remedy == "Run `commonplace sync`, which writes them again."
    sync(stores)
    assert "index" not in wrong(stores)
    close(stores)


def test_a_vault_without_git_is_told(root: Path, tmp_path: Path) -> None:
    """Nothing could be undone."""
    stores = make_stores(root, tmp_path / "data")
    sync(stores)

    assert wrong(stores).keys() == {"git"}
    close(stores)


def test_what_waits_for_the_person_is_counted_and_no_fault(stores: Stores, root: Path) -> None:
    """One line says how many there are and what to do."""
    for name in ("one", "two"):
        save(root, f"Agent/Memory/_staging/{name}.md", f"The person likes {name}.\n")
    sync(stores)
    (finding,) = [each for each in examine(stores) if each.what == "review"]

    assert finding == Finding("review", ok=True, said="2 memories wait for your review: `commonplace review`")


def test_a_lost_history_is_told_and_what_was_restored(stores: Stores, tmp_path: Path) -> None:
    """Never silence: not when the database is gone, and not when the next sync has put all in order."""
    file = tmp_path / "data" / "history.db"
    now = datetime.now(UTC)
    history = SqliteHistory(file)
    history.record_conversation(NewThread("chatgpt", "1"), [Message("user", "My boat is called Argo.")], now=now)
    history.close()
    file.unlink()
    lost = replace(stores, history=SqliteHistory(file))
    (restored,) = (each for each in examine(lost) if "restored" in each.said)
    lost.history.close()

    assert restored.ok
    assert "history.db was missing, empty or damaged: 1 conversation restored" in restored.said


def test_conversations_that_only_the_index_has_stay_in_it_and_are_told(stores: Stores, tmp_path: Path) -> None:
    """Both the database and the files are gone: a sync keeps the last copy, and doctor says what to do."""
    file = tmp_path / "kept" / "history.db"
    history = SqliteHistory(file)
    source = ConversationSource(history, closing=last_sentences)
    chatty = replace(stores, history=history, conversations=source, sources=(source,))
    history.record_conversation(NewThread("x", "1"), [Message("user", "Argo leaks.")], now=datetime.now(UTC))
    erased = history.record_conversation(NewThread("x", "2"), [Message("user", "Erased.")], now=datetime.now(UTC)).id
    sync(chatty)
    history.forget_conversation(erased)
    after_erasure = sync(chatty).removed
    history.close()
    shutil.rmtree(file.parent)
    sync(chatty)
    left = [key for key, stamp in chatty.index.stamps("chat").items() if not stamp.deleted]
    found = wrong(chatty)["history"]
    history.close()

    assert (after_erasure, len(left)) == (1, 1)
    assert "1 conversation in the index, but not in the history" in found.said
    assert "`conversations` back" in found.remedy


def test_an_entry_of_the_future_is_told_with_what_mends_it(stores: Stores, root: Path) -> None:
    """It was saved while the clock was ahead: `lint --fix` gives it a time that can be true."""
    entry = "---\nid: {}\nkind: fact\nstatus: active\nrecorded: 2099-01-01T00:00:00Z\nslug: x\n---\nThe boat is blue.\n"
    save(root, "Agent/Memory/fact/x.md", entry.format("00000000-0000-4000-8000-00000000000a"))
    sync(stores)
    found = wrong(stores)["entry-future"]

    assert (found.path, found.line > 1) == ("Agent/Memory/fact/x.md", True)
    assert found.remedy == "Run `commonplace lint --fix`, which writes a time that can be true."


def test_a_note_too_large_to_read_is_told(root: Path, tmp_path: Path) -> None:
    """A few bytes on the disk may claim to be gigabytes."""
    with (root / "large.md").open("wb") as file:
        file.truncate(2_000_000)
    vault = ObsidianVault(root, author=AUTHOR, max_read_bytes=1_000_000)
    stores = make_stores(root, tmp_path / "data", vault=vault)
    sync(stores)
    (found,) = [each for each in examine(stores) if each.path == "large.md"]
    close(stores)

    assert not found.ok
    assert "2,000,000 bytes" in found.said
    assert "vault.max_read_bytes" in f"{found.said} {found.remedy}"


def test_an_erasure_that_was_cut_short_is_told_without_its_words(stores: Stores) -> None:
    """The next command finishes it; the doctor tells nothing that was to be erased."""
    path = "Agent/Memory/fact/ana-likes-tea-02ab35.md"
    stores.history.begin_erasure(UnfinishedErasure(path, (), "", datetime(2026, 3, 1, tzinfo=UTC)))
    sync(stores)
    found = wrong(stores)["history"]

    assert found.said == "an erasure of 2026-03-01 was cut short: its words may be left in places"
    assert "the next command finishes the erasure" in found.remedy
    assert "tea" not in f"{found.path}"


def test_a_second_state_folder_is_told(stores: Stores, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two programs that do not know of each other's locks: the doctor says which folder the other one has."""
    sync(stores)
    assert not wrong(stores)
    first = os.environ["XDG_STATE_HOME"]
    monkeypatch.setenv("XDG_STATE_HOME", str(root.parent / "second"))
    found = wrong(replace(stores, vault=ObsidianVault(root, author=AUTHOR)))["git"]

    assert found.said.startswith(f"another state folder is in use for this vault: {first}")
    assert f"Set XDG_STATE_HOME to {first}" in found.remedy


def test_damaged_vectors_are_told_and_mended_by_a_rebuild(root: Path, tmp_path: Path) -> None:
    """A page of the cache that is no longer one."""
    stores = make_stores(root, tmp_path / "data", vault=ObsidianVault(root, author=AUTHOR))
    for number in range(40):
        save(root, f"{number}.md", f"words of number {number}\n")
    sync(stores)
    close(stores)
    file = tmp_path / "data/vectors.db"
    content = bytearray(file.read_bytes())
    content[4096 * 2 :] = b"\xa5" * (len(content) - 4096 * 2)
    file.write_bytes(content)
    found = wrong(stores)["vectors"]

    assert (found.path, found.remedy) == (str(file), "Run `commonplace rebuild`.")
    rebuild(stores)
    assert not wrong(stores)
    close(stores)


def of_models(stores: Stores, **values: object) -> list[tuple[bool, str]]:
    """What the doctor says about the models that these settings name."""
    options = load_settings(flags={f"llm.{name}": value for name, value in values.items()}).settings.llm
    findings = examine(replace(stores, models=make_models(options)))
    return [(finding.ok, finding.said) for finding in findings if finding.what == "models"]


def test_the_models_are_asked_whether_they_answer_and_no_text_is_sent(stores: Stores) -> None:
    """One that two tasks share is asked once; what was spent today comes with it."""
    with serving_models() as server:
        found = of_models(stores, provider="openai", base_url=server.openai, model=MODEL)

    assert found == [
        (True, f"{' and '.join(TASKS)}: {MODEL}@127.0.0.1 answers (on this machine)"),
        (True, "spent today: 0 of 2,000,000 tokens, $0.0000 of $1.00"),
    ]
    assert server.requests == []
    assert of_models(stores) == [(True, "no language model is set: no text is sent to one")]


def test_a_model_that_cannot_be_asked_is_reported(stores: Stores, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its key is missing, refused, or nothing listens."""
    monkeypatch.delenv("ABSENT_KEY", raising=False)
    with serving_models() as server:
        server.listing_status = 401
        shared = {"provider": "openai", "base_url": server.openai, "model": MODEL}
        refused = of_models(stores, **shared)[0]
        missing = of_models(stores, **shared, key_env="ABSENT_KEY")[0]
    gone = of_models(stores, **shared)[0]

    assert not refused[0]
    assert "responded 401" in refused[1]
    assert not missing[0]
    assert "ABSENT_KEY holds no key" in missing[1]
    assert not gone[0]
    assert "did not respond" in gone[1]


def test_a_model_that_is_left_alone_is_reported(stores: Stores) -> None:
    """With the reason, and how to ask it again."""
    with serving_models() as server:
        shared = {"llm.provider": "openai", "llm.base_url": server.openai, "llm.model": MODEL}
        models = make_models(load_settings(flags=shared).settings.llm)
        route = models.route("extract")
        assert route
        stores.history.save_model_state(ModelState(route.identity, 1, "auth", "it responded 401"), now=stores.clock())
        found = [each for each in examine(replace(stores, models=models)) if each.what == "models"]

    assert [each.ok for each in found] == [False, True, True]
    assert found[0].said.endswith("is not asked until the settings change: it responded 401")
    assert "commonplace learn --retry" in found[0].remedy
