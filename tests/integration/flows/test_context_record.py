"""What a context leaves behind: uses of what it showed, what its conversation is about, and else nothing."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import pytest

from commonplace.app import open_with
from commonplace.encoders.base import EncoderProvider
from commonplace.errors import Refused, VaultUnavailable
from commonplace.flows.context import build as context_flow
from commonplace.flows.context.topics import style_for
from commonplace.flows.stores import Encoders
from commonplace.history.sqlite.history import SqliteHistory
from commonplace.memory import Memory
from commonplace.model import Actor, Context
from commonplace.settings.load import load_settings
from tests.llm_server import MODEL, Failure, serving_models
from tests.memories import Calendar, make_memory
from tests.stores import CountingEncoder
from tests.vaults import make_vault

LONG = 20.0


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """Two topics, and a fact about the person."""
    with make_memory(tmp_path, clock=Calendar()) as opened:
        opened.entries.save("Rust crate number 1 has a builder.", kind="insight", topics=["coding"])
        opened.entries.save("Bread loaf number 1 has a crust.", kind="insight", topics=["baking"])
        opened.facts.add("me", "lives_in", "Bergen")
        opened.index.sync()
        yield opened


def uses(memory: Memory) -> dict[str, int]:
    return {held.fact.text: held.uses for held in memory.facts.about("", limit=50)}


def shown(context: Context) -> set[str]:
    return {each.piece.fact for each in context.included if each.piece.fact}


def rows(folder: Path) -> dict[str, list[object]]:
    """All that the history holds, by table."""
    (file,) = (folder / "data").rglob("history.db")
    connection = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READONLY)
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    return {table: [*connection.execute(f"SELECT * FROM {table}")] for table in tables}


def without_calls(folder: Path) -> dict[str, list[object]]:
    return {table: kept for table, kept in rows(folder).items() if not table.startswith("invocation_")}


def test_what_stands_before_the_prompt_counts_as_used_and_nothing_else_does(memory: Memory) -> None:
    """Each once, however often it fits; what was left out, and what a search or a list shows, is not used."""
    context = memory.context("rust crate number 1 builder", within=None, profile=False)
    ids = {held.fact.id: held.fact.text for held in memory.facts.about("", limit=50)}
    memory.search("bread loaf crust")
    memory.entries.recall("bread loaf crust")

    assert context.left_out
    assert shown(context)
    assert {text for text, times in uses(memory).items() if times} == {ids[each] for each in shown(context)}
    assert set(uses(memory).values()) == {0, 1}


def test_a_peek_leaves_nothing_behind(memory: Memory, tmp_path: Path) -> None:
    """No use and no topic, of a prompt or of a session that starts; the history is as it was, but for its log of calls
    to the encoder."""
    memory.context("rust crate builder", conversation="c-1", within=None)
    before = without_calls(tmp_path)
    seen = memory.context("bread loaf crust", conversation="c-2", within=None, peek=True)
    moved = memory.context("bread loaf crust", conversation="c-1", within=None, peek=True)
    start = memory.context.start(within=None, peek=True)

    assert shown(seen)
    assert moved.drifted
    assert "Bergen" in start.text
    assert without_calls(tmp_path) == before


def test_a_part_that_is_late_keeps_nothing_of_the_conversation(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a prompt that was answered without it could undo what a later one settled."""
    go_on = threading.Event()
    original = style_for

    def slowly(*arguments: object, **more: object) -> object:
        go_on.wait(LONG)
        return original(*arguments, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(context_flow, "style_for", slowly)
    late = memory.context("rust crate builder", conversation="c-1", within=0.05)
    monkeypatch.setattr(context_flow, "style_for", original)
    settled = memory.context("bread loaf crust", conversation="c-1", within=None)
    go_on.set()
    for thread in threading.enumerate():
        if thread.name == context_flow.GATHER_THREAD:
            thread.join(LONG)
    after = memory.context("number 3", conversation="c-1", within=None, peek=True)

    assert "recall" in late.late
    assert settled.topics == after.topics == ("baking",)
    assert not settled.drifted


def test_a_history_that_cannot_be_written_costs_no_context(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """The text is there, and the answer says that its use was not recorded."""

    def full(*arguments: object, **more: object) -> None:
        raise VaultUnavailable("the disk is full")

    monkeypatch.setattr(SqliteHistory, "record_use", full)
    context = memory.context("rust crate builder", within=None)

    assert "Rust crate" in context.text
    assert context.degraded == ("the use of these memories was not recorded: the disk is full",)


def opened(folder: Path, encoder: EncoderProvider, *, warm: Callable[[], bool] = lambda: False) -> Memory:
    """A memory that does not wait for this encoder, as a daemon's does not."""
    vault = folder / "vault"
    if not vault.exists():
        make_vault(vault)
    settings = load_settings(flags={"data": str(folder / "data"), "vault.root": str(vault)}).settings
    encoders = Encoders(encoder, "", {encoder.version: encoder}.get, warm=warm)
    return open_with(
        settings, actor=Actor("person", "test"), clock=Calendar(), is_patient=False, encoders=lambda options: encoders
    )


def test_while_the_encoder_is_being_loaded_a_prompt_goes_by_words_and_says_so(tmp_path: Path) -> None:
    """A save does not: it is indexed with its vector, so that it is found by meaning from then on."""
    encoder = CountingEncoder(is_ready=False)
    with opened(tmp_path, encoder, warm=lambda: not encoder.is_ready) as memory:
        memory.index.sync()
        saved = memory.entries.save("The gutter is blocked by leaves.", kind="fact")
        encoded = len(encoder.texts)
        loading = memory.context("blocked gutter", within=LONG)
        asked = len(encoder.texts)
        encoder.is_ready = True
        loaded = memory.context("blocked gutter", within=LONG)

    assert encoded > 0
    assert asked == encoded
    assert any("still loading" in each for each in loading.degraded)
    assert saved.fact.id in shown(loading)
    assert not any("cosine" in each.piece.why for each in loading.included)
    assert loaded.degraded == ()
    assert any("cosine" in each.piece.why for each in loaded.included if each.piece.fact == saved.fact.id)


def test_an_encoder_that_fails_costs_neither_the_words_nor_the_style(tmp_path: Path) -> None:
    """Where there are styles to choose from, too; the answer says what it did without."""
    encoder = CountingEncoder()
    with opened(tmp_path, encoder) as memory:
        styles = tmp_path / "vault" / "Agent" / "styles"
        styles.mkdir(parents=True)
        (styles / "Letters.md").write_text("---\ncontexts: [letter]\n---\nWarm, and in whole sentences.\n")
        (styles / "Reviews.md").write_text("---\ncontexts: [review]\n---\nCurt, in bullets.\n")
        memory.entries.save("The gutter is blocked by leaves.", kind="fact")
        encoder.fails = True
        context = memory.context("letter: gutter blocked by leaves", within=LONG)

    assert "blocked by leaves" in context.text
    assert context.style == "Letters"
    assert any("does not answer" in each for each in context.degraded)


@pytest.mark.requirement("A-42", "A-43", "A-44")
def test_a_prompt_is_looked_for_by_its_words_and_by_its_vector_and_what_was_replaced_is_not_there(
    tmp_path: Path,
) -> None:
    """Words are matched whatever their ending, meaning by the nearest vectors of the encoder there is."""
    with make_memory(tmp_path, clock=Calendar()) as memory:
        old = memory.entries.save("The gutter leaks at the east corner.", kind="fact").fact
        new = memory.entries.evolve(old.id, "The gutter leaks at the west corner.", reason="it was mended").fact
        memory.entries.save("Tea is kept in the tin.", kind="fact")
        found = memory.context("leaking gutters", within=None, profile=False)
        (piece,) = [each.piece for each in found.included]

    assert piece.fact == new.id
    assert "cosine" in piece.why
    assert "east" not in found.text


@pytest.mark.requirement("I-14", "V-09")
def test_no_model_is_asked_on_the_way_to_a_context_but_the_encoder_once(tmp_path: Path) -> None:
    """Topics, style and search share one vector of the prompt, and a model that is set for every task rests."""
    settings: dict[str, object] = {"llm.provider": "openai", "llm.model": MODEL}
    with (
        serving_models(default=Failure(500)) as server,
        make_memory(tmp_path, clock=Calendar(), settings={**settings, "llm.base_url": server.openai}) as memory,
    ):
        memory.entries.save("The gutter is blocked by leaves.", kind="fix", topics=["house"])
        memory.index.sync()
        before = len(rows(tmp_path)["invocation_log"])
        found = memory.context("blocked gutter", conversation="c-1", phase="work", within=None)
        calls = rows(tmp_path)["invocation_log"][before:]
        memory.context.start(within=None)

    assert server.requests == []
    assert found.topics == ("house",)
    assert len(calls) == 1
    assert len(rows(tmp_path)["invocation_log"]) == before + 1


def test_the_person_sees_what_was_given_lately_and_why(memory: Memory) -> None:
    """The beginning of the prompt in a conversation that is named; nothing of a peek or a private conversation."""
    prompt = "rust crate number 1 builder"
    memory.context(prompt, within=None, conversation="one")
    memory.context(prompt, within=None, conversation="two", peek=True)
    memory.context(prompt, within=None, conversation="three", private=True)
    memory.context("thanks!", within=None, conversation="one")
    silent, given = memory.context.recent()

    assert (given.conversation, given.prompt, given.chars > 0) == ("one", prompt, True)
    assert any(piece.path.startswith("Agent/Memory/") and piece.why for piece in given.pieces)
    assert (silent.pieces, "nothing to search" in silent.silence) == ((), True)
    with pytest.raises(Refused):
        memory.acting(Actor("agent", "mcp")).context.recent()
