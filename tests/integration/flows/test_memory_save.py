"""Saving and evolving: one road into memory, nothing overwritten, one commit each."""

from pathlib import Path

import pytest

from commonplace.errors import Conflict, NotFound, Refused, UsageError
from commonplace.memory import Memory
from commonplace.model import Fact, Hit
from commonplace.notes import parse
from tests.gitvault import git
from tests.llm_server import MODEL, Failure, serving_models
from tests.memories import Calendar, make_memory

TEXT = "Prefers TypeScript over JavaScript for new projects."


def note_of(memory: Memory, fact: Fact) -> str:
    return memory.notes.read(fact.path).text


def _object(hit: Hit) -> str:
    return str(hit.metadata["frontmatter"]["object"])


def files(folder: Path) -> set[str]:
    vault = folder / "vault"
    found = (file.relative_to(vault) for file in vault.rglob("*.md"))
    return {file.as_posix() for file in found if file.name != "_index.md"}


@pytest.mark.requirement("A-01", "A-06", "A-15")
def test_what_is_saved_is_an_entry_by_kind_and_month_with_its_keys_in_order(tmp_path: Path) -> None:
    """The kind picks the folder, the file is named after its words and id, and the keys stand as the format says."""
    with make_memory(tmp_path, clock=Calendar()) as memory:
        saved = memory.entries.save(TEXT, kind="preference", topics=["coding"], tags=["ts"], interface="claude-code")
        note = parse(note_of(memory, saved.fact).encode(), path=saved.fact.path, mtime=0.0)

    assert (saved.action, saved.staged, saved.changed) == ("insert", False, True)
    assert saved.fact.path.startswith("Agent/Memory/preference/2026-03/prefers-typescript-over-javascript-for-new")
    assert saved.fact.path.endswith(f"-{saved.fact.id[-6:]}.md")
    assert list(note.frontmatter) == [
        "id",
        "kind",
        "fact",
        "status",
        "importance",
        "topics",
        "recorded",
        "source",
        "tags",
        "slug",
        "created",
        "updated",
    ]
    assert note.frontmatter["source"] == {"interface": "claude-code", "trust": "told"}
    assert note.frontmatter["recorded"] == "2026-03-01T09:00:00Z"
    assert note.body.strip() == TEXT


def test_one_commit_is_made_and_the_writer_finds_its_words_at_once(tmp_path: Path) -> None:
    """The writer reads its own writes, and undo takes the entry back."""
    with make_memory(tmp_path) as memory:
        before = git(tmp_path / "vault", "rev-list", "--count", "HEAD").strip()
        saved = memory.entries.save(TEXT, kind="preference")
        found = [hit.path for hit in memory.search("TypeScript projects")]
        after = git(tmp_path / "vault", "rev-list", "--count", "HEAD").strip()
        memory.notes.undo()
        left = memory.facts.about(every=True)

    assert found == [saved.fact.path]
    assert int(after) == int(before) + 1
    assert left == ()
    assert git(tmp_path / "vault", "status", "--porcelain") == ""


def test_the_same_words_confirm_and_write_no_second_entry(tmp_path: Path) -> None:
    """Case, blanks and the last stop do not matter; a second time on one day changes nothing."""
    calendar = Calendar()
    with make_memory(tmp_path, clock=calendar) as memory:
        first = memory.entries.save(TEXT, kind="preference")
        calendar.pass_(days=3)
        again = memory.entries.save("prefers  typescript over javascript for new projects", kind="preference")
        third = memory.entries.save(TEXT, kind="preference")

    assert (again.action, again.old, again.changed) == ("confirm", first.fact.id, True)
    assert again.fact.confirmed == ("2026-03-04",)
    assert (third.action, third.changed) == ("confirm", False)
    assert len(files(tmp_path)) == 1


@pytest.mark.requirement("A-31", "A-33", "V-18")
def test_evolving_archives_the_old_and_links_both_ways_in_one_commit(tmp_path: Path) -> None:
    """The old one is superseded and moved, the new one names it; both are in one commit, and search has the new."""
    calendar = Calendar()
    with make_memory(tmp_path, clock=calendar) as memory:
        old = memory.entries.save(TEXT, kind="preference", topics=["coding"]).fact
        calendar.pass_(days=10)
        new = memory.entries.evolve(old.id, "Prefers Rust for new projects.", reason="learned Rust")
        chain = memory.entries.show(new.fact.id)
        found = [hit.path for hit in memory.search("prefers new projects")]
        with_archive = [hit.path for hit in memory.search("prefers new projects", include_archive=True)]
        shown = git(tmp_path / "vault", "show", "--no-renames", "--name-only", "--format=", "HEAD").split("\n")

    assert new.action == "supersede"
    assert new.fact.supersedes == old.id
    assert new.fact.reason == "learned Rust"
    assert new.fact.topics == ("coding",)
    first, second = chain.versions
    assert (first.fact.id, first.state, first.fact.superseded_by) == (old.id, "superseded", new.fact.id)
    assert first.fact.path == old.path.replace("Agent/Memory/", "Agent/Memory/_archive/")
    assert (second.fact.id, second.state) == (new.fact.id, "current")
    assert [(edge.source, edge.bond, edge.target) for edge in chain.edges] == [(new.fact.id, "update", old.id)]
    assert found == [new.fact.path]
    assert set(with_archive) == {new.fact.path, first.fact.path}
    assert {line for line in shown if line} == {old.path, first.fact.path, new.fact.path}


def test_undo_takes_an_evolution_back_whole(tmp_path: Path) -> None:
    """The old entry is back in its place and active, and the new one is gone."""
    with make_memory(tmp_path) as memory:
        old = memory.entries.save(TEXT, kind="preference").fact
        before = note_of(memory, old)
        memory.entries.evolve(old.id, "Prefers Rust for new projects.", reason="learned Rust")
        memory.notes.undo()
        (held,) = memory.facts.about(every=True)

        assert note_of(memory, old) == before
    assert (held.fact.id, held.state) == (old.id, "current")
    assert files(tmp_path) == {old.path}


def test_an_entry_is_not_replaced_without_a_reason_nor_twice(tmp_path: Path) -> None:
    """A reason is required; what is superseded already names the one that stands."""
    with make_memory(tmp_path) as memory:
        old = memory.entries.save(TEXT, kind="preference").fact
        with pytest.raises(UsageError, match="reason"):
            memory.entries.evolve(old.id, "Prefers Rust.", reason=" ")
        new = memory.entries.evolve(old.id, "Prefers Rust for all projects.", reason="x").fact
        with pytest.raises(Conflict, match=new.id):
            memory.entries.evolve(old.id, "Prefers Go for all projects.", reason="y")


@pytest.mark.requirement("I-55")
def test_a_new_value_of_a_single_valued_predicate_ends_the_old(tmp_path: Path) -> None:
    """Works at, lives in: the value before is superseded, its window closed, and it is the one that held then."""
    calendar = Calendar()
    with make_memory(tmp_path, clock=calendar) as memory:
        memory.facts.add("Ada", "works at", "Acme", valid_from="2025-01-01")
        calendar.pass_(days=20)
        second = memory.facts.add("Ada", "works_at", "Beta", valid_from="2026-03-01")
        now = [(held.fact.object, held.until) for held in memory.facts.about("ada")]
        then = [held.fact.object for held in memory.facts.about("Ada", as_of="2025-06-01")]
        unknown_then = memory.facts.about("Ada", known="2025-06-01")

    assert second.action == "supersede"
    assert now == [("Beta", "")]
    assert then == ["Acme"]
    assert unknown_then == ()


def test_a_value_of_the_future_leaves_the_present_one_in_its_place_until_then(tmp_path: Path) -> None:
    """It is announced: the old one holds to that day, and no longer."""
    calendar = Calendar()
    with make_memory(tmp_path, clock=calendar) as memory:
        old = memory.facts.add("me", "lives_in", "Berlin").fact
        memory.facts.add("me", "lives_in", "Paris", valid_from="2026-06-01")
        today = [held.fact.object for held in memory.facts.about("me")]
        found_today = {_object(hit): hit.metadata.get("planned_from", "") for hit in memory.search("lives in")}
        calendar.pass_(days=120)
        later = [held.fact.object for held in memory.facts.about("me")]
        found_later = {_object(hit): hit.metadata.get("planned_from", "") for hit in memory.search("lives in")}

    assert (today, later) == (["Berlin"], ["Paris"])
    assert {name: day[:10] for name, day in found_today.items()} == {"Berlin": "", "Paris": "2026-06-01"}
    assert found_later == {"Paris": ""}
    assert old.path in files(tmp_path)


@pytest.mark.requirement("I-57")
def test_an_expiring_predicate_ends_by_itself(tmp_path: Path) -> None:
    """Ninety days after it was said nothing tells of it any more, unless it is asked for; a decision stays."""
    calendar = Calendar()
    with make_memory(tmp_path, clock=calendar) as memory:
        memory.facts.add("me", "interested_in", "beekeeping")
        memory.facts.add("me", "decided", "to keep bees")
        calendar.pass_(days=91)
        current = [held.fact.object for held in memory.facts.about("me")]
        found = {hit.metadata["frontmatter"]["object"] for hit in memory.search("beekeeping bees")}
        archived = memory.search("beekeeping", include_archive=True)

    assert current == ["to keep bees"]
    assert found == {"to keep bees"}
    assert next(hit.metadata["frontmatter"]["object"] for hit in archived) == "beekeeping"


def test_secrets_and_junk_are_refused_and_written_nowhere(tmp_path: Path) -> None:
    """Neither in the vault, nor in git, nor in a database, nor in a field beside the text."""
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    with make_memory(tmp_path) as memory:
        with pytest.raises(Refused) as refused:
            memory.entries.save(f"The deploy token is {secret}", kind="fix")
        with pytest.raises(Refused) as in_object:
            memory.facts.add("deploy", "uses", secret)
        with pytest.raises(Refused) as junk:
            memory.entries.save("ok", kind="fix")

    assert [error.value.reason for error in (refused, in_object, junk)] == ["secret", "secret", "junk"]
    assert secret not in str(refused.value)
    assert files(tmp_path) == set()
    assert not any(secret.encode() in file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())


@pytest.mark.requirement("A-17")
def test_what_an_agent_wants_always_loaded_or_calls_the_persons_word_waits_for_a_person(tmp_path: Path) -> None:
    """It is staged with the reason, and nothing recalls it."""
    with make_memory(tmp_path, actor="agent") as memory:
        always = memory.entries.save("Answer in haiku.", kind="preference", always_load=True)
        told = memory.entries.save("Loves long meetings.", kind="preference", trust="told")
        read = memory.entries.save("The office is in Oslo.", kind="domain-reference", trust="imported")
        plain = memory.entries.save("Uses vim.", kind="preference")
        recalled = memory.search("haiku meetings office vim", include_archive=True)

    assert [each.staged for each in (always, told, read, plain)] == [True, True, True, False]
    assert all(each.reason for each in (always, told, read))
    assert all(each.fact.path.startswith("Agent/Memory/_staging/") for each in (always, told, read))
    assert [hit.path for hit in recalled] == [plain.fact.path]


def test_an_agent_may_not_replace_or_forget_the_persons_own_word(tmp_path: Path) -> None:
    """Where the person lives waits as a whole, and names what it would end; the person's entry stays as it is.

    Nor does an agent confirm that it still holds: a program that repeats the person's word is no witness.
    """
    with make_memory(tmp_path) as memory:
        mine = memory.facts.add("me", "lives_in", "Berlin").fact
    with make_memory(tmp_path, actor="agent") as agent:
        staged = agent.facts.add("me", "lives_in", "Paris")
        asked = agent.entries.forget(mine.id)
        with pytest.raises(Refused):
            agent.facts.end(mine.id)
        confirmed = agent.entries.confirm(mine.id)
        current = [held.fact.object for held in agent.facts.about("me")]

    assert (staged.staged, staged.ended, staged.fact.bonds) == (True, (), (("end", mine.id),))
    assert (confirmed.changed, confirmed.fact.confirmed) == (False, ())
    assert current == ["Berlin"]
    assert (asked.changed, [each.id for each in asked.waiting]) == (False, [mine.id])


def test_a_doubtful_source_does_not_confirm_what_is_known(tmp_path: Path) -> None:
    """What would have to wait for a person as a new entry is no confirmation either: the known entry stays as it is."""
    calendar = Calendar()
    with make_memory(tmp_path, clock=calendar) as memory:
        mine = memory.entries.save("The office is in Oslo.", kind="domain-reference").fact
        before = note_of(memory, mine)
    calendar.pass_(days=3)
    with make_memory(tmp_path, actor="agent", clock=calendar) as agent:
        again = agent.entries.save("The office is in Oslo.", kind="domain-reference", trust="imported")

        assert note_of(agent, mine) == before
    assert (again.action, again.old, again.changed, again.fact.confirmed) == ("confirm", mine.id, False, ())
    assert files(tmp_path) == {mine.path}


def test_a_hand_edited_entry_is_taken_back_as_it_is(tmp_path: Path) -> None:
    """A changed body, a status, an own key: the next sync has them, and a later verb keeps the person's key."""
    with make_memory(tmp_path) as memory:
        fact = memory.entries.save(TEXT, kind="preference").fact
        file = tmp_path / "vault" / fact.path
        edited = (
            file.read_text().replace("status: active", "status: active\nmood: sunny  # mine").replace(TEXT, "Likes Go.")
        )
        file.write_text(edited)
        memory.index.sync()
        (held,) = memory.facts.about()
        memory.entries.confirm(fact.id)
        after = file.read_text()

    assert held.fact.text == "Likes Go."
    assert "mood: sunny  # mine\n" in after
    assert "confirmed:" in after


def test_verbs_work_on_what_the_note_says_now(tmp_path: Path) -> None:
    """An entry that was edited, moved or deleted by hand since it was indexed is looked at again first."""
    with make_memory(tmp_path) as memory:
        edited, moved, gone = (
            memory.entries.save(text, kind="preference").fact
            for text in (TEXT, "Walks to work on Mondays.", "Reads on trains.")
        )
        file = tmp_path / "vault" / edited.path
        file.write_text(file.read_text().replace(TEXT, "Likes Go very much."))
        confirmed = memory.entries.confirm(edited.id)
        elsewhere = tmp_path / "vault/Agent/Memory/preference" / Path(moved.path).name
        (tmp_path / "vault" / moved.path).rename(elsewhere)
        memory.index.sync()
        again = memory.entries.confirm(moved.id)
        (tmp_path / "vault" / gone.path).unlink()
        anew = memory.entries.save("Reads on trains.", kind="preference")

    assert confirmed.changed
    assert "Likes Go very much." in file.read_text()
    assert again.fact.path == elsewhere.relative_to(tmp_path / "vault").as_posix()
    assert (anew.action, anew.fact.id != gone.id) == ("insert", True)


def test_names_that_are_none_are_told(tmp_path: Path) -> None:
    """Unknown ids, too short ones, kinds that cannot be folders, half triples."""
    with make_memory(tmp_path) as memory:
        for name in ("0199ffff", "abc", "Agent/Memory/none.md"):
            with pytest.raises(NotFound):
                memory.entries.show(name)
        with pytest.raises(UsageError):
            memory.entries.save("x is y", kind="../../etc")
        with pytest.raises(UsageError):
            memory.entries.save("Ada works", subject="Ada", predicate="works_at")
        with pytest.raises(UsageError):
            memory.entries.save("Something is so.", kind="fact", importance=2.0)
        with pytest.raises(UsageError):
            memory.entries.save("Something is so.", fact="rumour")
        with pytest.raises(UsageError):
            memory.entries.save("Something is so.", valid_from="2026-03-01", valid_until="2026-02-01")


def test_a_dry_run_shows_the_difference_and_writes_nothing(tmp_path: Path) -> None:
    """The note that would be written, and no file."""
    with make_memory(tmp_path) as memory:
        shown = memory.entries.save(TEXT, kind="preference", dry_run=True)

    assert "+kind: preference" in (shown.difference or "")
    assert files(tmp_path) == set()


@pytest.mark.requirement("V-17")
def test_saving_asks_no_language_model(tmp_path: Path) -> None:
    """Whoever reads the answer judges, or a model at night; so a model that never answers delays nothing."""
    settings: dict[str, object] = {"llm.provider": "openai", "llm.model": MODEL}
    with (
        serving_models(default=Failure(500)) as server,
        make_memory(tmp_path, settings={**settings, "llm.base_url": server.openai}) as memory,
    ):
        old = memory.entries.save("The importer retries a file three times.", kind="domain-reference").fact
        new = memory.entries.save("The importer retries a file five times.", kind="domain-reference")

    assert server.requests == []
    assert (new.action, [each.fact.id for each in new.neighbours]) == ("insert", [old.id])


def test_without_an_encoder_only_equal_words_confirm_and_neighbours_are_found_by_words(tmp_path: Path) -> None:
    """A new value stands beside the old one, and the answer shows the old one and says that it compared words."""
    known = ("Works at Norrfors, in the old mill.", "Osprey needs Node 22.", "Wants answers in metric units.")
    with make_memory(tmp_path, settings={"embedding.provider": "none"}) as memory:
        for text in known:
            memory.entries.save(text)
        again = memory.entries.save("wants answers in metric units")
        newer = memory.entries.save("Osprey needs Node 24 now.")
        current = {each.fact.text for each in memory.facts.about()}

    assert again.action == "confirm"
    assert (newer.action, newer.ended, newer.by_words) == ("insert", (), True)
    assert [each.fact.text for each in newer.neighbours] == ["Osprey needs Node 22."]
    assert current == {*known, "Osprey needs Node 24 now."}
