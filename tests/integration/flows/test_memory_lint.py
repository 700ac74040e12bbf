"""Lint: what is wrong with entries and their versions, read-only; what is safe is mended on request."""

from pathlib import Path

from commonplace.flows.notes.proposals import propose
from commonplace.model import Actor, Terms
from tests.gitvault import git
from tests.memories import make_memory


def test_links_keys_names_and_chains_are_looked_at_and_nothing_is_changed(tmp_path: Path) -> None:
    """Each with its path and code; the vault stays as it is."""
    with make_memory(tmp_path) as memory:
        old = memory.entries.save("Reads on trains, see [[Nowhere at all]].", kind="preference").fact
        new = memory.entries.evolve(old.id, "Reads on ferries, see [[Nowhere else]].", reason="moved").fact
        odd = memory.entries.save("Bakes bread on Sundays.", kind="preference").fact
        file = tmp_path / "vault" / odd.path
        file.write_text(file.read_text().replace("kind: preference", "kind: prefrence").replace("slug: ", "slog: "))
        archived = tmp_path / "vault" / memory.entries.show(old.id).fact.path
        lines = archived.read_text().splitlines(keepends=True)
        archived.write_text("".join(line for line in lines if not line.startswith("superseded_by")))
        before = git(tmp_path / "vault", "status", "--porcelain")
        linted = memory.lint()
        found = {(problem.code, problem.path) for problem in linted.problems}
        after = git(tmp_path / "vault", "status", "--porcelain")

    assert linted.entries == 3
    assert ("entry-link", new.path) in found
    assert ("entry-kind", odd.path) in found
    assert ("entry-key", odd.path) in found
    assert ("chain-one-sided", archived.relative_to(tmp_path / "vault").as_posix()) in found
    assert after == before


def test_what_is_safe_is_mended_in_one_commit_for_each_kind_and_is_well_then(tmp_path: Path) -> None:
    """A missing slug, and a link that only one version has; a second run finds nothing to mend."""
    with make_memory(tmp_path) as memory:
        old = memory.entries.save("Reads on trains.", kind="preference").fact
        memory.entries.evolve(old.id, "Reads on ferries.", reason="moved")
        archived = tmp_path / "vault" / memory.entries.show(old.id).fact.path
        lines = archived.read_text().splitlines(keepends=True)
        archived.write_text("".join(line for line in lines if not line.startswith(("superseded_by", "slug"))))
        memory.index.sync()
        commits = int(git(tmp_path / "vault", "rev-list", "--count", "HEAD"))
        first = memory.lint(fix=True)
        second = memory.lint(fix=True)
        more = int(git(tmp_path / "vault", "rev-list", "--count", "HEAD")) - commits

    assert {problem.code for problem in first.mended} == {"chain-one-sided", "entry-key"}
    assert first.problems == ()
    assert second.mended == ()
    assert "superseded_by: " in archived.read_text()
    assert "slug: reads-on-trains\n" in archived.read_text()
    assert more == 3  # the person's edit is kept first, then ours, one for each kind


def test_a_proposal_that_waits_is_no_problem(tmp_path: Path) -> None:
    """Proposals wait among the entries, and have none of their keys; lint does not ask to move them elsewhere."""
    with make_memory(tmp_path) as memory:
        memory.notes.write("Ideas.md", "An idea.\n", Terms(personal=True))
        propose("Ideas.md", memory._session.as_actor(Actor("job", "links")), why="It is better.", text=b"Mended.\n")

        assert memory.lint().problems == ()
