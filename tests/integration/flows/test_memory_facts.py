"""What is known: of an entity by any of its names, now or on a day; versions, timelines, links; and what is erased."""

from pathlib import Path

import pytest

from commonplace.errors import Conflict, NotFound, Refused, UsageError
from commonplace.memory import Memory
from tests.gitvault import git
from tests.memories import Calendar, make_memory

ADA = """---
aliases: [Ada, Countess]
created: 2025-01-01
---
# Ada Lindqvist

- [skill] knows Postgres well #databases
- works_at [[Acme]]

She depends on [[Priya Raman]] for deployments.
"""


def save(folder: Path, path: str, text: str) -> None:
    file = folder / "vault" / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def objects(memory: Memory, entity: str, **asked: str) -> list[str]:
    return sorted(held.fact.object or held.fact.text for held in memory.facts.about(entity, **asked))  # type: ignore[arg-type]


def test_an_entity_is_known_by_its_title_its_aliases_and_its_path(tmp_path: Path) -> None:
    """Facts told of an alias are facts of the person, and a line of the person's note is one too."""
    save(tmp_path, "People/Ada Lindqvist.md", ADA)
    with make_memory(tmp_path) as memory:
        memory.index.sync()
        memory.facts.add("Ada", "likes", "tea")
        memory.facts.add("Ada Lindqvist", "knows", "Jonas")
        wanted = ["Acme", "Jonas", "knows Postgres well", "tea"]

        for name in ("Ada", "ada lindqvist", "Countess", "[[Ada Lindqvist]]", "People/Ada Lindqvist.md"):
            assert objects(memory, name) == wanted


def test_a_first_name_is_taken_for_the_person_though_tasks_have_it_too(tmp_path: Path) -> None:
    """A task is a statement, and no second person of that name."""
    tasks = "- [ ] Maria Lind: send the plan by 2026-05-03\n- [ ] Ask Maria about May 📅 2026-05-04\n"
    save(tmp_path, "Meetings/Plan.md", f"---\ntype: meeting\n---\n## Action items\n\n{tasks}")
    with make_memory(tmp_path) as memory:
        memory.index.sync()
        match = memory.facts.named("Maria")
        owed = [each.what for each in memory.commitments.list(who="Maria")]

    assert match.taken_for == "Maria Lind"
    assert owed == ["send the plan"]


@pytest.mark.requirement("V-35", "V-33", "V-34")
def test_a_fact_of_a_line_exists_exactly_while_the_line_does(tmp_path: Path) -> None:
    """It comes with the line, changes with it and goes with it; its past is answered by the day it stood there."""
    with make_memory(tmp_path) as memory:
        memory.notes.write("People/Ada Lindqvist.md", ADA)
        first = objects(memory, "Ada")
        memory.notes.write("People/Ada Lindqvist.md", ADA.replace("[[Acme]]", "[[Beta]]"))
        second = objects(memory, "Ada")
        memory.notes.write("People/Ada Lindqvist.md", ADA.replace("- works_at [[Acme]]\n", ""))
        third = objects(memory, "Ada")
        with pytest.raises(UsageError, match="line"):
            memory.entries.forget(memory.facts.about("Ada")[0].fact.id)

    assert first == ["Acme", "knows Postgres well"]
    assert second == ["Beta", "knows Postgres well"]
    assert third == ["knows Postgres well"]


def test_a_line_and_an_entry_that_claim_the_same_give_one_value_and_a_problem(tmp_path: Path) -> None:
    """The note stays as its person wrote it; the later claim holds, and lint names the two."""
    save(tmp_path, "People/Ada Lindqvist.md", ADA)
    with make_memory(tmp_path) as memory:
        memory.index.sync()
        memory.facts.add("Ada Lindqvist", "works_at", "Beta")
        current = [held.fact.object for held in memory.facts.about("Ada", predicate="works_at")]
        codes = {problem.code for problem in memory.lint().problems}

    assert current == ["Beta"]
    assert "competing-claims" in codes


@pytest.mark.requirement("I-61")
def test_a_fact_can_be_ended_at_any_time_also_one_that_ends_by_itself(tmp_path: Path) -> None:
    """An auto-expiring fact is ended early; what was known before that is still answered by the second clock."""
    calendar = Calendar()
    with make_memory(tmp_path, clock=calendar) as memory:
        fact = memory.facts.add("me", "interested_in", "bees").fact
        calendar.pass_(days=10)
        ended = memory.facts.end(fact.id)
        now = memory.facts.about("me")
        then = objects(memory, "me", known="2026-03-05")
        calendar.pass_(days=10)
        later_known = objects(memory, "me", as_of="2026-03-20", known="2026-03-05")
        with pytest.raises(UsageError):
            memory.facts.end(memory.facts.add("me", "likes", "x", valid_from="2026-05-01").fact.id, at="2026-04-01")

    assert ended.fact.valid_until == "2026-03-11T09:00:00Z"
    assert now == ()
    assert then == ["bees"]
    assert later_known == ["bees"]


def test_a_forgotten_entry_is_recalled_by_nothing_and_undo_brings_it_back(tmp_path: Path) -> None:
    """Soft: the note stays with its status; forgetting it twice is a conflict."""
    with make_memory(tmp_path) as memory:
        fact = memory.entries.save("Drinks oat milk only.", kind="preference").fact
        forgotten = memory.entries.forget(fact.id, reason="no longer")
        found = memory.search("oat milk")
        with pytest.raises(Conflict):
            memory.entries.confirm(fact.id)
        text = (tmp_path / "vault" / fact.path).read_text()
        memory.notes.undo()
        back = memory.search("oat milk")

    assert (forgotten.action, forgotten.fact.status) == ("forget", "deleted")
    assert len(found) == 0
    assert "status: deleted\n" in text
    assert "deleted_at: " in text
    assert [hit.path for hit in back] == [fact.path]


@pytest.mark.requirement("I-62")
def test_an_erased_entry_is_in_no_file_but_gits_history(tmp_path: Path) -> None:
    """Every file of vault and data is searched for its words; what git holds is told. Only a person may erase."""
    with make_memory(tmp_path) as memory:
        old = memory.entries.save("Hides the xylophone in the attic.", kind="preference").fact
        new = memory.entries.evolve(old.id, "Hides the xylophone in the cellar.", reason="moved it").fact
        memory.context("where is the xylophone", within=None)
        with make_memory(tmp_path, actor="agent") as agent, pytest.raises(Refused):
            agent.entries.erase(old.id)
        told = [memory.entries.erase(each.id) for each in (old, new)]
    kept = [file for file in tmp_path.rglob("*") if file.is_file() and ".git" not in file.parts]

    assert all(erased.commits_holding_it for erased in told)
    assert kept
    assert [file for file in kept if b"xylophone" in file.read_bytes().lower()] == []
    assert [file for file in kept if "xylophone" in file.name] == []


@pytest.mark.requirement("V-23")
def test_what_is_put_before_a_prompt_is_used_and_what_is_searched_for_is_not(tmp_path: Path) -> None:
    """Use is this device's own: it is in no note, and lifts importance a little. A peek is no use."""
    with make_memory(tmp_path) as memory:
        fact = memory.entries.save("Prefers tea over coffee.", kind="preference").fact
        memory.search("tea or coffee")
        memory.entries.recall("tea or coffee")
        memory.context("tea or coffee", within=None, peek=True)
        before = memory.facts.about()[0]
        context = memory.context("tea or coffee", within=None)
        after = memory.facts.about()[0]
        text = (tmp_path / "vault" / fact.path).read_text()

    assert [each.piece.fact for each in context.included] == [fact.id]
    assert (before.uses, after.uses) == (0, 1)
    assert before.importance < after.importance < before.importance + 0.1
    assert "use" not in text.partition("---\n")[2].partition("---\n")[0]


def test_a_timeline_tells_what_happened_in_order(tmp_path: Path) -> None:
    """Began, replaced by what, confirmed."""
    calendar = Calendar()
    with make_memory(tmp_path, clock=calendar) as memory:
        first = memory.facts.add("Ada", "works_at", "Acme", valid_from="2024-01-01").fact
        second = memory.facts.add("Ada", "works_at", "Beta", valid_from="2025-01-01").fact
        calendar.pass_(days=5)
        memory.entries.confirm(second.id)
        told = [(each.what, each.fact.object, each.other) for each in memory.facts.timeline("Ada")]
        with pytest.raises(NotFound):
            memory.facts.timeline("Nobody at all")

    assert told == [
        ("began", "Acme", ""),
        ("replaced", "Acme", second.id),
        ("began", "Beta", ""),
        ("confirmed", "Beta", ""),
    ]
    assert first.id != second.id


LOVELACE = "---\naliases: [Ada]\n---\n# Ada Lovelace\n"


def test_two_names_of_one_entity_have_one_value_between_them(tmp_path: Path) -> None:
    """By any name, for a topic, in a timeline and before a prompt; where two notes share a name, both values stand."""
    save(tmp_path, "People/Ada Lovelace.md", LOVELACE)
    with make_memory(tmp_path) as memory:
        memory.index.sync()
        memory.facts.add("Ada Lovelace", "lives_in", "London", valid_from="2026-02-01")
        old = memory.facts.add("Ada", "lives_in", "Rehovot", valid_from="2026-01-01", topics=["home"]).fact
        homes = [objects(memory, name, predicate="lives_in") for name in ("Ada", "Ada Lovelace")]
        topic = objects(memory, "Ada", topic="home")
        then = objects(memory, "Ada", as_of="2026-01-15")
        replaced = [each.fact.id for each in memory.facts.timeline("Ada") if each.what == "replaced"]
        prompt = [held.fact.object for held in memory.facts.relevant("a letter to Ada Lovelace")]
        save(tmp_path, "People/Ada Byron.md", LOVELACE.replace("Lovelace", "Byron"))
        memory.index.sync()
        shared = objects(memory, "Ada", predicate="lives_in")

    assert homes == [["London"], ["London"]]
    assert (topic, then, replaced, prompt) == ([], ["Rehovot"], [old.id], ["London"])
    assert shared == ["Rehovot"]  # two notes are called so: the name alone counts


def test_what_was_known_does_not_depend_on_how_it_is_asked_for(tmp_path: Path) -> None:
    """What has another topic, or may not be seen, ends what is asked for; what was recorded later does not."""
    calendar = Calendar()
    with make_memory(tmp_path, clock=calendar) as memory:
        first = memory.facts.add("Jonas", "works_at", "Acme", topics=["work"], valid_from="2026-01-01").fact
        calendar.pass_(days=10)
        second = memory.facts.add("Jonas", "works_at", "Beta", topics=["career"], valid_from="2026-02-01").fact
        compete(tmp_path, first.path.replace("Agent/Memory/", "Agent/Memory/_archive/"), first.path)
        hide(tmp_path, second.path)
        memory.index.sync()
        by_topic, by_object, both = {"topic": "work"}, {"entity": "Acme"}, {"entity": "Jonas"}
        asked = (by_topic, by_object, both)
        before = [objects(memory, **{"entity": "", **each}, known="2026-03-05") for each in asked]
        after = [objects(memory, **{"entity": "", **each}, known="2026-03-12") for each in asked]
    with make_memory(tmp_path, actor="agent", clock=calendar) as agent:
        hidden = [objects(agent, **{"entity": "", **each}, known="2026-03-12") for each in asked]

    assert before == [["Acme"], ["Acme"], ["Acme"]]
    assert after == [[], [], ["Beta"]]
    assert hidden == [[], [], []]


def compete(folder: Path, path: str, to: str) -> None:
    """As if another device had never heard of what replaced the entry: it stands as it did at first."""
    file = folder / "vault" / path
    later = ("superseded", "invalidated", "valid_until", "  at:", "  was:", "reason")
    kept = [line for line in file.read_text().splitlines() if not line.startswith(later)]
    (folder / "vault" / to).parent.mkdir(parents=True, exist_ok=True)
    (folder / "vault" / to).write_text("\n".join(kept).replace("status: superseded", "status: active") + "\n")
    file.unlink()


def hide(folder: Path, path: str) -> None:
    file = folder / "vault" / path
    file.write_text(file.read_text().replace("kind: fact", "kind: fact\nsensitive: true"))


def test_use_counts_for_today_alone_and_is_told_however_old_it_is(tmp_path: Path) -> None:
    """Of a day in the past it lifts nothing; after its month it lifts nothing either, and is still told."""
    calendar = Calendar()
    with make_memory(tmp_path, clock=calendar) as memory:
        fact = memory.entries.save("Prefers tea over coffee.", kind="preference").fact
        unused = memory.facts.about()[0].importance
        calendar.pass_(days=1)
        memory.context("tea or coffee", within=None)
        (past,) = memory.facts.about(as_of="2026-03-01")
        used = memory.facts.about()[0]
        calendar.pass_(days=60)
        (late,) = memory.entries.show(fact.id).versions
        (then,) = memory.facts.about(as_of=calendar.at)

    assert (past.importance, past.uses, past.last_used) == (unused, 0, "")
    assert (used.uses, used.last_used) == (1, "2026-03-02")
    assert (late.uses, late.last_used) == (1, "2026-03-02")
    assert late.importance == then.importance


@pytest.mark.requirement("A-51")
def test_links_carry_what_the_words_before_them_say_over_several_steps(tmp_path: Path) -> None:
    """Typed by cue phrases, with no model; two steps reach further than one."""
    save(tmp_path, "People/Ada Lindqvist.md", ADA)
    save(tmp_path, "People/Priya Raman.md", "# Priya\n\nShe works at [[Acme]].\n")
    save(tmp_path, "Projects/Acme.md", "# Acme\n")
    with make_memory(tmp_path) as memory:
        memory.index.sync()
        near = {(edge.source, edge.relation, edge.path) for edge in memory.facts.links("Ada")}
        far = {(edge.source, edge.relation, edge.path) for edge in memory.facts.links("Ada", hops=2)}

    ada, priya, acme = "People/Ada Lindqvist.md", "People/Priya Raman.md", "Projects/Acme.md"
    assert near == {(ada, "works_at", acme), (ada, "depends_on", priya)}
    assert far - near == {(priya, "works_at", acme)}


def test_sensitive_facts_are_shown_to_the_person_alone(tmp_path: Path) -> None:
    """An agent does not learn of them, by entity, topic, id or timeline."""
    with make_memory(tmp_path) as memory:
        fact = memory.facts.add("me", "takes", "a strong remedy").fact
        file = tmp_path / "vault" / fact.path
        file.write_text(file.read_text().replace("kind: fact", "kind: fact\nsensitive: true"))
        memory.index.sync()
        seen = objects(memory, "me")
    with make_memory(tmp_path, actor="agent") as agent:
        hidden = agent.facts.about("me", every=True)
        with pytest.raises(NotFound):
            agent.entries.show(fact.id)
        with pytest.raises(NotFound):
            agent.facts.timeline("me")

    assert seen == ["a strong remedy"]
    assert hidden == ()


def test_the_overview_lists_what_is_known_and_git_never_sees_it(tmp_path: Path) -> None:
    """It is made anew with each entry, is not indexed, and leaves the tree clean."""
    with make_memory(tmp_path) as memory:
        fact = memory.entries.save("Waters the ferns on Sundays.", kind="workflow", topics=["garden"]).fact
        overview = (tmp_path / "vault/Agent/Memory/_index.md").read_text()
        hits = memory.search("ferns Sundays")

    assert f"[[{fact.path.removesuffix('.md')}|Waters the ferns on Sundays.]]" in overview
    assert "garden (1)" in overview
    assert [hit.path for hit in hits] == [fact.path]
    assert git(tmp_path / "vault", "status", "--porcelain") == ""


@pytest.mark.requirement("V-07", "V-09")
def test_topics_are_known_from_the_first_fact_on_and_lock_a_conversation(tmp_path: Path) -> None:
    """What a message is about is told by the middles of topics; a conversation keeps its topics in a file."""
    with make_memory(tmp_path) as memory:
        memory.entries.save("Prefers pytest over unittest for python tests.", kind="preference", topics=["coding"])
        memory.entries.save("Waters the ferns in the greenhouse daily.", kind="workflow", topics=["garden"])
        names = [(topic.name, topic.documents) for topic in memory.topics.list()]
        first = memory.topics.infer("pytest for python tests", conversation="c-1")
    with make_memory(tmp_path) as memory:
        second = memory.topics.infer("and what else", conversation="c-1")
        third = memory.topics.infer("ferns in the greenhouse daily", conversation="c-1")

    assert names == [("coding", 1), ("garden", 1)]
    assert first.topics[0][0] == "coding"
    assert (first.locked, first.drifted) == (("coding",), False)
    assert (second.locked, second.drifted) == (("coding",), False)
    assert (third.locked, third.drifted) == (("garden",), True)


def test_a_style_is_chosen_by_context(tmp_path: Path) -> None:
    """By its contexts, else the default."""
    save(tmp_path, "Agent/styles/Code.md", "---\ncontexts: [coding]\n---\nShort and exact.\n")
    save(tmp_path, "Agent/styles/Warm.md", "---\ndefault: true\n---\nKind words.\n")
    with make_memory(tmp_path) as memory:
        names = {style.name for style in memory.topics.styles()}
        coding = memory.topics.style("help me with coding in python")
        other = memory.topics.style("zzz qqq")

    assert names == {"Code", "Warm"}
    assert coding is not None
    assert (coding.name, other.name if other else None) == ("Code", "Warm")


@pytest.mark.requirement("I-05", "I-07")
def test_the_facts_for_a_prompt_are_those_of_the_person_and_of_whom_it_names(tmp_path: Path) -> None:
    """By alias too; the setting caps them, and what ended is not among them."""
    save(tmp_path, "People/Ada Lindqvist.md", ADA)
    with make_memory(tmp_path, settings={"facts.max_knowledge_facts": 3}) as memory:
        memory.index.sync()
        memory.facts.add("me", "lives_in", "Berlin")
        memory.facts.add("me", "acquired", "a kayak")
        memory.facts.add("Jonas", "works_at", "Beta")
        memory.facts.end(memory.facts.add("me", "likes", "rain").fact.id)
        plain = [held.fact.object for held in memory.facts.relevant("what is for dinner")]
        named = [held.fact.object or held.fact.text for held in memory.facts.relevant("a letter to the countess")]
        more = memory.facts.relevant("Jonas and the countess", limit=10)

    assert plain == ["Berlin"]
    assert sorted(named) == ["Acme", "Berlin", "knows Postgres well"]
    assert len(more) == 4


@pytest.mark.requirement("A-17", "A-32")
def test_an_entry_is_put_before_every_prompt_and_back_among_its_kind_by_a_person_alone(tmp_path: Path) -> None:
    """Its note moves to `_always-load` and back to its group; an agent may do neither, and undo takes it back."""
    with make_memory(tmp_path) as memory:
        fact = memory.entries.save("Answer in short sentences.", kind="preference").fact
        loaded = memory.entries.load(fact.id, always=True)
        again = memory.entries.load(fact.id, always=True)
        with make_memory(tmp_path, actor="agent") as agent:
            for always in (True, False):
                if always:
                    assert not agent.entries.load(fact.id, always=True).changed
                    continue
                with pytest.raises(Refused):
                    agent.entries.load(fact.id, always=False)
        back = memory.entries.load(fact.id, always=False)
        memory.notes.undo()
        held = memory.entries.show(fact.id).fact

    assert loaded.fact.path == f"Agent/Memory/_always-load/{fact.path.rpartition('/')[2]}"
    assert not again.changed
    assert back.fact.path == fact.path
    assert (held.path, held.always_load) == (loaded.fact.path, True)


@pytest.mark.requirement("A-12", "V-01", "V-02")
def test_what_is_derived_or_of_this_device_lies_outside_the_vault(tmp_path: Path) -> None:
    """One store of facts, made of notes; index, vectors, use and locks are in the data folder, none in the vault."""
    with make_memory(tmp_path) as memory:
        memory.entries.save("Prefers tea over coffee.", kind="preference", topics=["food"])
        memory.context("tea", within=None)
        memory.topics.infer("tea or coffee", conversation="c-1")
    inside = {file.suffix for file in (tmp_path / "vault").rglob("*") if file.is_file() and ".git" not in file.parts}
    outside = {file.name for file in (tmp_path / "data").rglob("*") if file.is_file()}

    assert inside == {".md"}
    assert {"index.db", "vectors.db", "history.db"} <= outside


@pytest.mark.requirement("A-13", "A-16", "A-39")
def test_nothing_is_removed_by_replacing_or_forgetting_and_the_archive_opens_on_request(tmp_path: Path) -> None:
    """Recall passes over what is superseded, forgotten or archived by hand, at every tier, until it is asked for."""
    with make_memory(tmp_path) as memory:
        old = memory.entries.save("Keeps the ferns by the window.", kind="workflow").fact
        new = memory.entries.evolve(old.id, "Keeps the ferns in the bathroom.", reason="they like it moist").fact
        gone = memory.entries.save("Nobody keeps ferns in the dark.", kind="workflow").fact
        memory.entries.forget(gone.id)
        save(tmp_path, "Agent/projects/_archive/Ferns.md", "Keeps the ferns outside.\n")
        memory.index.sync()
        found = {hit.path for hit in memory.search("keeps the ferns")}
        opened = {hit.path for hit in memory.search("keeps the ferns", include_archive=True)}

    archived = old.path.replace("Agent/Memory/", "Agent/Memory/_archive/")
    assert found == {new.path}
    assert opened == {new.path, archived, gone.path, "Agent/projects/_archive/Ferns.md"}


@pytest.mark.requirement("A-07")
def test_memory_is_on_disk_and_its_place_is_looked_up_each_time(tmp_path: Path) -> None:
    """A vault that moved between two sessions is found by its new path, and knows what it knew."""
    with make_memory(tmp_path / "one") as memory:
        memory.entries.save("Prefers tea over coffee.", kind="preference")
    (tmp_path / "two").mkdir()
    (tmp_path / "one/vault").rename(tmp_path / "two/vault")
    with make_memory(tmp_path / "two") as memory:
        memory.index.sync()
        known = [held.fact.text for held in memory.facts.about()]

    assert known == ["Prefers tea over coffee."]


def texts(memory: Memory, entity: str = "", **asked: object) -> list[str]:
    return [held.fact.text for held in memory.facts.about(entity, **asked)]  # type: ignore[arg-type]


def test_an_entry_that_mentions_an_entity_is_a_fact_about_it_after_its_own(tmp_path: Path) -> None:
    """By any of its names, as whole words; with its topic and its project, but with no predicate."""
    save(tmp_path, "People/Ada Lindqvist.md", ADA)
    with make_memory(tmp_path) as memory:
        memory.index.sync()
        memory.entries.save("The countess likes short meetings.", kind="constraint", topics=["work"])
        memory.entries.save("Lunch with Ada Lindqvist\u2019s sister is on Mondays.", kind="event")
        memory.entries.save("Adam and the adage.", kind="fact")
        memory.facts.add("Ada", "likes", "tea")
        known = texts(memory, "Ada")
        on_topic = texts(memory, "Ada", topic="work")
        at_work = objects(memory, "Ada", predicate="works_at")
        begun = {event.fact.text for event in memory.facts.timeline("Ada")}
        similar = memory.facts.named("sister").similar
        only_mentioned = texts(memory, "sister")

    assert sorted(known[:3]) == ["Ada likes tea.", "knows Postgres well", "works_at [[Acme]]"]
    assert known[3:] == ["The countess likes short meetings.", "Lunch with Ada Lindqvist\u2019s sister is on Mondays."]
    assert on_topic == ["The countess likes short meetings."]
    assert at_work == ["Acme"]
    assert begun == {*known}
    assert similar == ()
    assert only_mentioned == known[4:]


def test_a_mention_is_known_from_the_day_it_was_recorded_until_it_was_replaced(tmp_path: Path) -> None:
    """As of a day, on both clocks; what is sensitive stays hidden from an agent."""
    calendar = Calendar()
    with make_memory(tmp_path, clock=calendar) as memory:
        old = memory.entries.save("Ada drives the red van.", kind="fact").fact
        calendar.pass_(days=10)
        memory.entries.evolve(old.id, "Ada drives the blue van.", reason="the red one was sold")
        days = ("2026-02-01", "2026-03-05", "2026-03-20")
        known = [texts(memory, "ada", known=day) for day in days]
        now, every = texts(memory, "Ada"), texts(memory, "Ada", every=True)
        hidden = memory.entries.save("Ada hides the diary.", kind="fact").fact
        file = tmp_path / "vault" / hidden.path
        file.write_text(file.read_text().replace("---\n", "---\nsensitive: true\n", 1))
        memory.index.sync()
        with make_memory(tmp_path, actor="agent", clock=calendar) as agent:
            told = texts(agent, "Ada")

    assert known == [[], ["Ada drives the red van."], ["Ada drives the blue van."]]
    assert now == told == ["Ada drives the blue van."]
    assert sorted(every) == ["Ada drives the blue van.", "Ada drives the red van."]


def test_what_is_said_about_the_person_is_a_fact_about_them(tmp_path: Path) -> None:
    """By its kind or its words; an entry with another subject is not, nor is one about the project."""
    calendar = Calendar()
    with make_memory(tmp_path, clock=calendar) as memory:
        memory.entries.save("My birthday is May 4.", kind="identity")
        memory.entries.save("I prefer oat milk.", kind="preference")
        memory.entries.save("Prefers green tea.", kind="preference", subject="Ada")
        memory.entries.save("The build takes nine minutes.", kind="fact")
        memory.facts.add("me", "acquired", "a kayak")
        own = texts(memory, "me")
        calendar.pass_(days=1)
        memory.entries.save("I moved to Graz.", kind="fact")
        before, later = texts(memory, "me", as_of="2026-03-01"), texts(memory, "I")

    assert own == before == ["Acquired a kayak.", "My birthday is May 4.", "I prefer oat milk."]
    assert "I moved to Graz." in later


def test_the_most_important_are_chosen_among_more_than_the_newest(tmp_path: Path) -> None:
    """With a limit of ten, 24 newer facts displaced the constraint and the identity."""
    calendar = Calendar()
    with make_memory(tmp_path, clock=calendar) as memory:
        memory.entries.save("Allergic to peanuts.", kind="constraint")
        memory.entries.save("Born in Graz.", kind="identity")
        for number in range(24):
            calendar.pass_(minutes=1)
            memory.facts.add(f"Shelf {number}", "holds", f"{number} boxes of screws")
        first = texts(memory, limit=10)

    assert set(first[:2]) == {"Allergic to peanuts.", "Born in Graz."}
    assert len(first) == 10
