"""Skills as files of their own: made, renewed and removed, and never a person's own file in their place."""

import os
from collections.abc import Iterator
from contextlib import chdir
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from unittest.mock import patch

import pytest

from commonplace.errors import Refused
from commonplace.hosts.file_changes import FileChange, unified_diff
from commonplace.hosts.host import SKILLS, Environment, InstallOptions
from commonplace.hosts.host_edits import WholeFile, is_our_file
from commonplace.hosts.install import install, plan_uninstalls, uninstall, unrecorded_installs, what_host_sees
from commonplace.hosts.install_record import read_record, record_file
from commonplace.hosts.plan import plan_install
from commonplace.hosts.registry import HOSTS
from tests.daemons import surroundings

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)
EXISTING = {
    "json": '{\r\n  // mine\r\n  "theme": {"dark": [1,],},\r\n}',
    "toml": "model = 'mine' # why\n",
    "markdown": "# Mine\n",
}
THEIRS = "---\nname: recall\n---\n\nMy own recall.\n"


@dataclass(frozen=True, slots=True)
class Person:
    """A person with a home and a project, and hosts to install."""

    environment: Environment

    @property
    def home(self) -> Path:
        return self.environment.home

    def install(self, host: str, options: InstallOptions | None = None) -> list[FileChange]:
        result = install(HOSTS[host], options or InstallOptions(), self.environment, token="", now=NOW)
        return list(result.changes)

    def write_existing(self, host: str, options: InstallOptions) -> None:
        """Let the host's files be there already, but for our skills."""
        for file in HOSTS[host].files(options, self.environment):
            if not any(isinstance(edit, WholeFile) for edit in file.edits):
                file.path.parent.mkdir(parents=True, exist_ok=True)
                file.path.write_bytes(b'{"theme": {}}' if file.plain else EXISTING[file.format].encode())

    def uninstall(self, host: str) -> list[FileChange]:
        return [change for each in read_record().installs if each.host == host for change in uninstall(each).changes]

    def files(self) -> dict[str, bytes]:
        """Everything in the home and the project but what Commonplace keeps for itself."""
        own = (self.home / "state", self.home / "config", self.home / "data")
        return {
            str(path): path.read_bytes() if path.is_file() else b""
            for root in (self.home, self.environment.project)
            for path in sorted(root.rglob("*"))
            if not any(path == each or path.is_relative_to(each) for each in own)
            and not path.name.endswith(".before-commonplace")
        }


@pytest.fixture
def person(tmp_path: Path) -> Iterator[Person]:
    home, project = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    project.mkdir()
    environment = Environment(home, project, ("/opt/commonplace",), url="http://127.0.0.1:8377/mcp")
    with patch.dict(os.environ, surroundings(home), clear=True), chdir(project):
        yield Person(environment)


@pytest.mark.requirement("X-16")
@pytest.mark.parametrize("is_new", [True, False])
@pytest.mark.parametrize(("scope", "host"), [(scope, name) for name, host in HOSTS.items() for scope in host.scopes])
def test_after_an_uninstall_nothing_is_left_of_any_host(person: Person, scope: str, host: str, is_new: bool) -> None:
    """Files, folders and all; a second install changes nothing, and a preview shows every file."""
    options = InstallOptions("project" if scope == "project" else "user", instructions=scope == "project")
    if not is_new:
        person.write_existing(host, options)
    before = person.files()
    previewed = plan_install(HOSTS[host], options, person.environment, None).changes
    made = person.install(host, options)
    again = person.install(host, options)
    skills = [Path(path) for path in person.files() if path.endswith("SKILL.md")]
    person.uninstall(host)

    assert [change.path for change in previewed] == [change.path for change in made]
    assert all(unified_diff(change) for change in previewed)
    assert len(skills) == (0 if host == "claude-desktop" else len(SKILLS))
    assert not any(change.has_effect for change in again)
    assert person.files() == before


def test_a_persons_own_skill_is_never_touched(person: Person) -> None:
    """The others are installed all the same; whoever installs is told."""
    own = person.home / ".claude" / "skills" / "recall" / "SKILL.md"
    own.parent.mkdir(parents=True)
    own.write_text(THEIRS)
    before = person.files()
    changes = person.install("claude-code")

    assert own.read_text() == THEIRS
    assert [change.path for change in changes if change.is_foreign] == [own]
    assert not any(change.has_effect for change in changes if change.is_foreign)
    assert (own.parents[1] / "remember" / "SKILL.md").exists()
    person.uninstall("claude-code")
    assert person.files() == before


def test_a_skill_that_a_person_changed_is_theirs_from_then_on(person: Person) -> None:
    """Neither a new version nor an uninstall takes their words away."""
    person.install("claude-code")
    changed = person.home / ".claude" / "skills" / "remember" / "SKILL.md"
    changed.write_text(f"{changed.read_text()}\nAnd always in French.\n")
    text = changed.read_text()
    again = person.install("claude-code")
    person.install("claude-code")
    person.uninstall("claude-code")

    assert [change.path for change in again if change.is_foreign] == [changed]
    assert changed.read_text() == text
    assert [Path(path).name for path in person.files() if path.endswith(".md")] == ["SKILL.md"]


def test_an_uninstall_says_which_changed_skill_it_leaves(person: Person) -> None:
    """The file is still on record until then."""
    person.install("codex")
    changed = person.home / ".agents" / "skills" / "recall" / "SKILL.md"
    changed.write_text("Mine now.\n")
    planned = plan_uninstalls(read_record().installs)
    left = [change.path for change in person.uninstall("codex") if change.is_foreign]

    assert [change.path for change in planned if change.is_foreign] == left == [changed]
    assert changed.read_text() == "Mine now.\n"


def test_a_new_version_replaces_the_old_text(person: Person) -> None:
    """Even if the record of the install is lost; no copy of our own text is kept."""
    skill = person.home / ".cursor" / "skills" / "recall" / "SKILL.md"
    person.install("cursor")
    new = skill.read_text()
    skill.write_text(WholeFile("An older text.\n").sealed)
    record_file().unlink()
    person.install("cursor")

    assert skill.read_text() == new
    assert not list(person.home.rglob("*.before-commonplace"))


def test_skills_are_found_without_a_record(person: Person) -> None:
    """Like entries: `uninstall` takes out what it knows to be ours."""
    person.install("gemini")
    record_file().unlink()
    for each in unrecorded_installs(HOSTS["gemini"], person.environment):
        uninstall(each)

    assert not list(person.home.rglob("SKILL.md"))


def test_two_hosts_that_share_a_folder_share_the_files(person: Person) -> None:
    """VS Code and Copilot CLI read the same one: the files stay until both are gone, and folders go then."""
    before = person.files()
    person.install("vscode")
    person.install("copilot-cli")
    person.install("vscode", InstallOptions(skills=False))
    kept = len(list(person.home.rglob("SKILL.md")))
    person.install("vscode")
    person.uninstall("vscode")
    left = len(list(person.home.rglob("SKILL.md")))
    person.uninstall("copilot-cli")

    assert (kept, left) == (len(SKILLS), len(SKILLS))
    assert person.files() == before


@pytest.mark.parametrize("first", ["claude-code", "cursor"])
def test_two_hosts_whose_folders_are_linked_share_the_files(person: Person, first: str) -> None:
    """Whoever goes first: the files stay until both are gone."""
    (person.home / ".claude" / "skills").mkdir(parents=True)
    (person.home / ".cursor").mkdir()
    (person.home / ".cursor" / "skills").symlink_to(person.home / ".claude" / "skills")
    before = person.files()
    person.install("claude-code")
    person.install("cursor")
    person.install("cursor", InstallOptions(skills=False))
    declined = len(list(person.home.rglob("SKILL.md")))
    person.install("cursor")
    person.uninstall(first)
    left = len(list((person.home / ".claude" / "skills").rglob("SKILL.md")))
    person.uninstall("cursor" if first == "claude-code" else "claude-code")

    assert (declined, left) == (len(SKILLS), len(SKILLS))
    assert person.files() == before


@pytest.mark.parametrize("linked", ["skills", "skills/recall", "skills/recall/SKILL.md"])
def test_nothing_is_created_behind_a_link_to_nowhere(person: Person, tmp_path: Path, linked: str) -> None:
    """The skill is left alone, and the rest of the install is done; uninstalling leaves the link as well."""
    link = person.home / ".claude" / linked
    link.parent.mkdir(parents=True)
    link.symlink_to(tmp_path / "nowhere")
    changes = person.install("claude-code")
    left = [change.path for change in changes if change.is_foreign]
    sees = what_host_sees(HOSTS["claude-code"], InstallOptions(), person.environment, changes=changes)
    person.uninstall("claude-code")

    assert not (tmp_path / "nowhere").exists()
    assert link.is_symlink()
    assert person.home / ".claude" / "skills" / "recall" / "SKILL.md" in left
    assert len(left) == (len(SKILLS) if linked == "skills" else 1)
    assert (f"{len(SKILLS) - 1} skills" in sees) is (linked != "skills")
    assert f"{len(SKILLS)} skills" not in sees


def test_a_skill_that_a_person_has_linked_stays_with_its_target(person: Person, tmp_path: Path) -> None:
    """Even if what is there is ours: who moves a file and links it wants to keep it."""
    person.install("claude-code")
    place, moved = person.home / ".claude" / "skills" / "recall", tmp_path / "dotfiles"
    place.rename(moved)
    place.symlink_to(moved)
    again = person.install("claude-code")
    person.uninstall("claude-code")

    assert [change.path for change in again if change.is_foreign] == [place / "SKILL.md"]
    assert (place / "SKILL.md").exists()


@pytest.mark.parametrize("kind", ["folder", "pipe", "file above"])
def test_what_is_no_file_in_the_place_of_a_skill_is_left_alone(person: Person, kind: str) -> None:
    """And no reason to refuse the rest."""
    place = person.home / ".claude" / "skills" / "recall" / "SKILL.md"
    (place.parents[1] if kind == "file above" else place.parent).mkdir(parents=True)
    if kind == "folder":
        place.mkdir()
    elif kind == "pipe":
        os.mkfifo(place)
    else:
        place.parent.write_text("mine")
    changes = person.install("claude-code")

    assert [change.path for change in changes if change.is_foreign] == [place]
    assert (person.home / ".claude.json").exists()


def test_a_file_with_entries_of_ours_is_no_original(person: Person) -> None:
    """A lost record: no copy of it is kept, which would hold a token."""
    person.install("cursor", InstallOptions(transport="http"))
    record_file().unlink()
    person.install("cursor")

    assert not list(person.home.rglob("*.before-commonplace"))


def test_skills_go_when_they_are_no_longer_wanted(person: Person) -> None:
    """The rest of the install stays."""
    person.install("claude-code")
    person.install("claude-code", InstallOptions(skills=False))

    assert not (person.home / ".claude" / "skills").exists()
    assert (person.home / ".claude.json").exists()


def test_a_project_cannot_lead_the_files_elsewhere(person: Person, tmp_path: Path) -> None:
    """A link in a folder that anyone may have made is not followed out of it."""
    (tmp_path / "mine").mkdir()
    (person.environment.project / ".claude").symlink_to(tmp_path / "mine")
    with pytest.raises(Refused, match="a link out of the project"):
        person.install("claude-code", InstallOptions("project"))

    assert not list((tmp_path / "mine").iterdir())


def test_bytes_that_are_no_text_are_a_persons_own(person: Person) -> None:
    """Whatever they are, they stay."""
    file = person.home / ".codeium" / "windsurf" / "skills" / "recall" / "SKILL.md"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"\xff\xfe\x00")
    changes = person.install("windsurf")

    assert [change.path for change in changes if change.is_foreign] == [file]
    assert file.read_bytes() == b"\xff\xfe\x00"
    assert all(is_our_file(path.read_text()) for path in person.home.rglob("SKILL.md") if path != file)
