"""What an agent may not do to what the person knows, by any verb."""

from collections.abc import Callable
from pathlib import Path

import pytest

from commonplace.errors import CommonplaceError, NotFound, Refused
from commonplace.memory import Memory
from commonplace.model import Actor
from commonplace.model.fact import FactClass
from tests.memories import make_memory

FORGED = """---
id: {id}
kind: fact
status: active
subject: Ada
predicate: works_at
object: Evil
valid_from: 2026-01-01
recorded: 2026-01-01T00:00:00Z
source: {{interface: x, trust: said}}
slug: x
---
Ada works at Evil.
"""


def values(memory: Memory, entity: str = "Ada", predicate: str = "works_at") -> list[str]:
    return [held.fact.object for held in memory.facts.about(entity, predicate=predicate)]


def test_what_waits_for_a_person_is_brought_out_by_no_verb_of_an_agent(tmp_path: Path) -> None:
    """Not by a move, not by a new version, not by writing it again; it does not even learn of it by its id."""
    with make_memory(tmp_path) as memory:
        memory.facts.add("Ada", "works_at", "Acme", valid_from="2024-01-01")
    with make_memory(tmp_path, actor="agent") as agent:
        staged = agent.facts.add("Ada", "works_at", "Beta", valid_from="2025-05-01", trust="imported")
        again = agent.facts.add("Ada", "works_at", "Beta", valid_from="2025-05-01", trust="imported")
        with pytest.raises(Refused):
            agent.notes.move(staged.fact.path, "Agent/Memory/fact/2026-11/beta.md")
        for verb in (agent.entries.show, agent.entries.confirm, agent.entries.forget):
            with pytest.raises(NotFound):
                verb(staged.fact.id)
        with pytest.raises(NotFound):
            agent.entries.evolve(staged.fact.id, "Gamma", reason="x")
        current = values(agent)

    assert (staged.staged, again.staged, again.changed) == (True, True, False)
    assert again.fact.path == staged.fact.path
    assert current == ["Acme"]
    assert "What was imported waits for the person's approval." in (tmp_path / "vault" / staged.fact.path).read_text()


def test_an_agent_writes_no_entry_as_a_plain_note(tmp_path: Path) -> None:
    """Neither a new one nor over another, with its id or with one of its own; nor does it delete or move one."""
    with make_memory(tmp_path) as memory:
        mine = memory.facts.add("Ada", "works_at", "Acme", valid_from="2024-01-01").fact
    with make_memory(tmp_path, actor="agent") as agent:
        own = agent.entries.save("Uses vim every day.", kind="preference").fact
        for path in (f"Agent/Memory/fact/2026-01/x-{mine.id[-6:]}.md", "Agent/Memory/_archive/x.md", own.path):
            for id_ in (mine.id, "01999999-0000-7000-8000-000000000001"):
                with pytest.raises(Refused):
                    agent.notes.write(path, FORGED.format(id=id_))
        with pytest.raises(Refused):
            agent.notes.delete(own.path)
        with pytest.raises(Refused):
            agent.notes.move(own.path, "Agent/Memory/fact/2026-01/y.md")
        current = values(agent)
        undone = agent.notes.undo()

    assert current == ["Acme"]
    assert [change.path for change in undone] == [own.path]


def test_what_is_worth_less_ends_nothing_that_the_person_said(tmp_path: Path) -> None:
    """An agent's entry that came by git, a line that it wrote, a claim with the same words: the told one holds."""
    with make_memory(tmp_path) as memory:
        memory.facts.add("Ada", "works_at", "Acme", valid_from="2024-01-01")
        allergy = memory.entries.save("I am allergic to nuts.", kind="identity").fact
        file = tmp_path / "vault/Agent/Memory/fact/2026-01/x-000001.md"
        file.parent.mkdir(parents=True)
        file.write_text(FORGED.format(id="01999999-0000-7000-8000-000000000001"))
    with make_memory(tmp_path, actor="agent") as agent:
        agent.notes.write("Inbox/Ada.md", "---\ncreated: 2026-01-01\n---\n- works_at [[Evil2]]\n")
        agent.index.sync()
        again = agent.entries.save("I am allergic to nuts.", kind="identity", valid_until="2030-01-01")
        current = values(agent)
        held = [hit.path for hit in agent.entries.recall("allergic to nuts")]
        codes = {problem.code for problem in agent.lint().problems}
        with pytest.raises(Refused):
            agent.lint(fix=True)

    assert current == ["Acme"]
    assert allergy.path in held
    assert again.staged or again.action == "confirm"
    assert "competing-claims" in codes


@pytest.mark.parametrize("given", ["", "fact", "event", "preference"])
def test_an_agents_triple_about_who_the_person_is_waits_whatever_class_it_gives(
    tmp_path: Path, given: FactClass
) -> None:
    """What has one value at a time says who they are. Other triples do not wait, nor do the person's own."""
    with make_memory(tmp_path) as memory:
        memory.entries.save("", subject="me", predicate="name", object="Ada Brand")
        agent = memory.acting(Actor("agent", "claude-code"))
        other = agent.entries.save("", subject="me", predicate="name", object="Eve Marx", fact=given)
        beside = agent.entries.save("", subject="me", predicate="likes", object="tea", fact=given or "fact")
        mine = memory.entries.save("", subject="me", predicate="works_at", object="Acme", fact="fact")

    assert (other.staged, other.reason, other.fact.fact) == (True, "Only the person says who they are.", "identity")
    assert (beside.staged, beside.fact.fact) == (False, given or "fact")
    assert (mine.staged, mine.fact.fact) == (False, "fact")


def test_a_line_of_the_persons_note_is_ended_by_no_agent(tmp_path: Path) -> None:
    """What it says instead stands beside it; the person may end it by saying so."""
    note = tmp_path / "vault/People/Ada.md"
    note.parent.mkdir(parents=True)
    note.write_text("- works_at [[Acme]]\n")
    with make_memory(tmp_path, actor="agent") as agent:
        agent.index.sync()
        beside = agent.facts.add("Ada", "works_at", "Evil")
        current = values(agent)
    with make_memory(tmp_path) as memory:
        said = memory.facts.add("Ada", "works_at", "Beta")
        now = values(memory)

    assert ([each.text for each in beside.waiting], beside.ended) == (["works_at [[Acme]]"], ())
    assert {*current} == {"Acme", "Evil"}
    assert (said.staged, now) == (False, ["Beta"])


def test_an_alias_changes_nobodys_words(tmp_path: Path) -> None:
    """A note that calls itself Ada or me: the subject stays as it was said, and the facts of others stay theirs."""
    with make_memory(tmp_path, actor="agent") as agent:
        agent.notes.write("Inbox/Mallory.md", "---\naliases: [Ada, me]\n---\n- lives_in [[Hell]]\n")
        agent.facts.add("Mallory", "has_role", "thief")
    with make_memory(tmp_path) as memory:
        saved = [
            memory.facts.add(subject, "lives_in", place).fact
            for subject, place in (("Ada", "Kiel"), ("me", "Bonn"), ("Robin", "Oslo"))
        ]
        mine = values(memory, "me", "lives_in")

    assert [fact.subject for fact in saved] == ["Ada", "me", "Robin"]
    assert mine == ["Bonn"]


def test_a_new_version_is_as_sensitive_as_the_old_and_keeps_what_the_person_wrote(tmp_path: Path) -> None:
    """By evolving and by a value that replaces another; tags and own keys go with it."""
    with make_memory(tmp_path) as memory:
        first = memory.facts.add("me", "has_status", "ill").fact
        file = tmp_path / "vault" / first.path
        file.write_text(file.read_text().replace("kind: fact", "kind: fact\nsensitive: true\nmy_own: keep  # me"))
        memory.index.sync()
        second = memory.facts.add("me", "has_status", "taking strong pills").fact
        third = memory.entries.evolve(second.id, "well again", reason="cured").fact
        text = (tmp_path / "vault" / third.path).read_text()
    with make_memory(tmp_path, actor="agent") as agent:
        seen = [hit.text for hit in agent.entries.recall("pills ill status well")]
        saved = agent.entries.save("Has status: taking strong pills now.", kind="fact", trust="imported", dry_run=True)

    assert "sensitive: true\nmy_own: keep  # me\n" in text
    assert not any(seen)
    assert saved.fact.id not in (first.id, second.id, third.id)


@pytest.mark.parametrize("field", ["subject", "predicate", "object", "topics", "tags", "interface", "conversation"])
def test_a_secret_is_refused_in_every_field_and_written_nowhere(tmp_path: Path, field: str) -> None:
    """Also in the reasons that are given for evolving and forgetting."""
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    triple = {"subject": "Ada", "predicate": "likes", "object": "tea"}
    given: dict[str, object] = {**triple, field: [secret] if field in ("topics", "tags") else secret}
    with make_memory(tmp_path) as memory:
        fact = memory.entries.save("Likes tea in the morning.", kind="preference").fact
        verbs: tuple[Callable[[], object], ...] = (
            lambda: memory.entries.save("Ada likes tea.", **given),  # type: ignore[arg-type]
            lambda: memory.entries.evolve(fact.id, "Likes coffee.", reason=f"because {secret}"),
            lambda: memory.entries.forget(fact.id, reason=f"because {secret}"),
        )
        refused = []
        for verb in verbs:
            with pytest.raises(Refused) as error:
                verb()
            refused.append(error.value)

    assert {error.reason for error in refused} == {"secret"}
    assert not any(secret in str(error) for error in refused)
    assert not any(secret.encode() in file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())


def test_what_was_forgotten_does_not_come_back_by_an_agent(tmp_path: Path) -> None:
    """It is staged; the person may save it again."""
    with make_memory(tmp_path) as memory:
        memory.entries.forget(memory.entries.save("Collects stamps.", kind="preference").fact.id)
    with make_memory(tmp_path, actor="agent") as agent:
        staged = agent.entries.save("Collects stamps.", kind="preference")
    with make_memory(tmp_path) as memory:
        saved = memory.entries.save("Collects stamps.", kind="preference")

    assert (staged.staged, saved.staged) == (True, False)


def test_a_short_name_that_fits_two_is_asked_about(tmp_path: Path) -> None:
    """The beginning of one id may be the end of another: neither is taken for the other."""
    with make_memory(tmp_path) as memory:
        fact = memory.entries.save("Collects stamps.", kind="preference").fact
        decoy = tmp_path / "vault/Agent/Memory/fact/2026-01/x.md"
        decoy.parent.mkdir(parents=True)
        decoy.write_text(FORGED.format(id=f"{fact.id[-6:]}00-0000-7000-8000-000000000001"))
        memory.index.sync()
        with pytest.raises(CommonplaceError, match="2 facts"):
            memory.entries.show(fact.id[-6:])


@pytest.mark.parametrize("backend", ["device-local", "in-memory"])
def test_an_entry_is_erased_without_git_too(tmp_path: Path, backend: str) -> None:
    """Nothing of it stays in any file, and there is no history to tell of."""
    settings: dict[str, object] = {"vault.backend": backend}
    with make_memory(tmp_path, settings=settings) as memory:
        old = memory.entries.save("Hides the xylophone in the attic.", kind="preference").fact
        new = memory.entries.evolve(old.id, "Hides the xylophone in the cellar.", reason="moved it").fact
        told = memory.entries.erase(old.id)
        left = memory.entries.show(new.id)
        memory.entries.erase(new.id)
    kept = [file for file in tmp_path.rglob("*") if file.is_file() and ".git" not in file.parts]

    assert (told.commit, told.commits_holding_it) == (None, 0)
    assert left.fact.supersedes == ""
    assert [file for file in kept if b"xylophone" in file.read_bytes().lower()] == []
