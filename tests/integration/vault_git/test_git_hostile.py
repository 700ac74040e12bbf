"""A vault that brings its own repository runs no program through us, whatever that repository configures.

COMMONPLACE_TEST_GIT names another git to run these tests with.
"""

import os
import re
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from commonplace.errors import Refused, VaultUnavailable
from commonplace.vault.git.isolation import ALLOWED_KEYS, views_folder
from commonplace.vault.git.location import covers, find, identity
from commonplace.vault.git.run import Git, version
from tests.command_line import calling
from tests.integration.vault_git.program_keys import FILE_KEYS, HOOKS, PROGRAM_KEYS, SWITCH_KEYS
from tests.integration.vault_git.repositories import adopted, git, opened, put, script, write

DECISION = Path(__file__).parents[3] / "docs/decisions/0026-git-sees-our-configuration.md"
FILTERS = ("unset", "set", "unspecified", "x=y", "a.b.c", "EVIL", "", "evil")
FILTER_KEYS = tuple(f"filter.{name}.{way}" for name in FILTERS for way in ("clean", "smudge", "process"))
PLACES = ("config", "included", "worktree")
CRLF = b"one\r\ntwo\r\n"


@dataclass(frozen=True)
class HostileRepository:
    """A vault and the folder in which each program that its repository names leaves a file."""

    folder: Path
    markers: Path

    @property
    def ran(self) -> set[str]:
        """The settings and hooks whose programs have run."""
        return {file.read_text(errors="replace").strip() for file in self.markers.iterdir()}


def program(folder: Path, markers: Path, key: str) -> str:
    """A program that says that it ran for this key and passes its input on."""
    name = re.sub(r"\W", "_", key) + str(abs(hash(key)) % 1000)
    return str(script(folder / name, f"echo '{key}' > {markers}/{name}\nexec cat"))


def hostile(folder: Path, *, place: str = "config") -> HostileRepository:
    """A vault with notes, attributes for every filter, hooks, and every setting that can name a program."""
    vault, programs, markers = adopted(folder / "vault"), folder / "programs", folder / "markers"
    markers.mkdir()
    git(vault, "config", "maintenance.auto", "false")  # a commit of the person starts none in the background
    lines = ["*.md diff=evil merge=evil"]
    for number, name in enumerate(FILTERS):
        write(vault, f"f{number}/n.md", CRLF)
        lines.append(f"f{number}/*.md filter={name}")
    git(vault, "add", "--all")
    git(vault, "commit", "--quiet", "--message=notes")
    git(vault, "repack", "-q", "-d")
    write(vault, ".gitattributes", "\n".join(lines).encode() + b"\n")
    git(vault, "add", "--all")
    git(vault, "commit", "--quiet", "--message=attributes")
    git(vault, "repack", "-q", "-d")
    lost = git(vault, "hash-object", "-w", "--stdin", stdin="maintenance asks gc.recentObjectsHook about it").strip()
    os.utime(vault / ".git/objects" / lost[:2] / lost[2:], (1e9, 1e9))  # nothing refers to it, and it is old
    for hook in HOOKS.split():
        Path(program(programs, markers, f"hook {hook}")).rename(vault / f".git/hooks/{hook}")
        Path(program(programs, markers, f"hooksPath {hook}")).rename(write(programs, f"hooks/{hook}"))
    configure(vault, programs, markers, place=place)
    return HostileRepository(vault, markers)


def configure(vault: Path, programs: Path, markers: Path, *, place: str) -> None:
    """Write the settings into the repository's configuration, a file it includes, or the working tree's own."""
    into = {"config": ".git/config", "included": ".git/more", "worktree": ".git/config.worktree"}[place]
    values = [(key, program(programs, markers, key)) for key in (*PROGRAM_KEYS, *FILTER_KEYS)]
    values += [(key, value.replace("PROGRAM", f"{programs}/x")) for key, value in SWITCH_KEYS]
    values += [("core.hooksPath", str(programs / "hooks"))]
    values += [(key, str(markers / key)) for key in FILE_KEYS if key.startswith(("trace2", "gc."))]
    for key, value in values:
        command = f"!{value}" if key.startswith(("alias.", "submodule.")) else value
        git(vault, "config", "--file", into, "--add", key, command)
    if place == "included":
        git(vault, "config", "include.path", "more")
    if place == "worktree":
        git(vault, "config", "extensions.worktreeConfig", "true")


def use(vault: Path) -> None:
    """Everything that we ask of git: reading what is and what was, converting, writing, merging, tidying."""
    repository = opened(vault)
    repository.refuse_if_busy()
    head = repository.head() or ""
    paths = [f"f{number}/n.md" for number in range(len(FILTERS))]
    assert repository.contents_at([(path, head) for path in paths]) == [CRLF] * len(paths)
    for path in paths:
        assert repository.content_at(path, head) == CRLF
        repository.blob_id(path, CRLF)
    put(repository, vault, "Inbox/new.md", CRLF)
    put(repository, vault, "a.md", b"two\n")
    put(repository, vault, "a.md", None)
    for path in paths:
        with suppress(Refused):  # of the filters, only those whose name is no state of an attribute are known as such
            put(repository, vault, path, CRLF + b"three\r\n")
    assert repository.revisions(None, ours=True, limit=5)
    assert repository.commit_at(datetime(9999, 1, 1, tzinfo=UTC)) == repository.head()
    assert repository.list_at(repository.head() or "", skip=None).files
    assert repository.history_begins()
    assert repository.merge(base=b"1\n2\n", ours=b"0\n1\n2\n", theirs=b"1\n2\n3\n").content == b"0\n1\n2\n3\n"
    assert repository.find_mutation("0" * 32) is None
    repository.held_by("a.md")
    repository.maintain()
    assert covers(Git(vault))
    assert identity(Git(vault))


def packs_of(vault: Path) -> list[Path]:
    """The packs with objects that are in use; newer gits keep the others in one with a file of times."""
    packs = (vault / ".git/objects/pack").glob("*.pack")
    return [pack for pack in packs if not pack.with_suffix(".mtimes").exists()]


@pytest.fixture(scope="module", params=PLACES)
def used(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> HostileRepository:
    """A hostile repository after everything that we ask of git was asked."""
    repository = hostile(tmp_path_factory.mktemp("hostile"), place=request.param)
    packs = len(packs_of(repository.folder))
    with pytest.MonkeyPatch.context() as variables:
        home = tmp_path_factory.mktemp("home")
        variables.setenv("HOME", str(home))
        variables.setenv("XDG_STATE_HOME", str(home / "state"))
        variables.delenv("XDG_CONFIG_HOME", raising=False)
        use(repository.folder)
    assert packs > 1
    assert len(packs_of(repository.folder)) == 1, "no maintenance was done"
    return repository


def test_no_program_that_the_repository_names_is_run_and_nothing_is_written(used: HostileRepository) -> None:
    """Neither by reading nor by writing nor by tidying, wherever the setting stands: no program, filter or hook.

    No hook of another folder either, and no trace or pack where the repository asks for one.
    """
    assert used.ran == set()
    assert not any(used.markers.iterdir())


def test_a_command_line_on_a_hostile_vault_runs_nothing(tmp_path: Path) -> None:
    """The same for what a person calls: init, write, search as of a day, log, undo, doctor."""
    repository = hostile(tmp_path)
    call = calling(repository.folder)

    for words in (
        ("init", str(repository.folder), "--yes"),
        ("note", "write", "Inbox/x.md"),
        ("sync",),
        ("search", "two", "--as-of", f"{datetime.now(UTC):%Y-%m-%d}"),
        ("log",),
        ("undo", "--yes"),
        ("doctor",),
    ):
        done = call(*words, given="one\r\ntwo\r\n", named=words[0] != "init")
        assert "Traceback" not in done.stderr, done.stderr
        assert words[0] in ("undo", "doctor") or done.returncode == 0, (words, done.stderr)

    assert repository.ran == set()


def test_plain_git_would_have_run_them(tmp_path: Path) -> None:
    """The settings work: a person's own git runs what we do not."""
    repository = hostile(tmp_path)
    write(repository.folder, "f0/new.md", CRLF)

    for words in (("add", "f0/new.md"), ("commit", "--message=x"), ("maintenance", "run")):
        subprocess.run(["git", *words], cwd=repository.folder, capture_output=True, check=False, timeout=240)

    assert {"core.fsmonitor", "filter.unset.process"} <= repository.ran
    assert any(each.startswith("hooksPath") for each in repository.ran)


# What counts


def test_no_allowed_key_is_one_that_can_run_something() -> None:
    """The allowlist and the table have nothing in common."""
    harmless = {"gc.auto", "gc.autopacklimit", "maintenance.strategy", "remote.*.promisor"}
    dangerous = {pattern(key) for key in (*PROGRAM_KEYS, *FILE_KEYS, *(key for key, _ in SWITCH_KEYS))}

    assert dangerous & ALLOWED_KEYS <= harmless


def pattern(key: str) -> str:
    section, _, rest = key.partition(".")
    _, dot, name = rest.rpartition(".")
    return f"{section}.*.{name}".lower() if dot else key.lower()


def test_the_decision_names_every_key_of_the_table() -> None:
    """The page that people read and the table that the tests use are the same."""
    text = DECISION.read_text(encoding="utf-8").lower().replace("<name>", "*")
    missing = {pattern(key) for key in (*PROGRAM_KEYS, *FILE_KEYS)} - set(re.findall(r"`([^`]+)`", text))

    assert missing == set()


def test_what_counts_of_the_configuration_still_counts(tmp_path: Path) -> None:
    """Line endings, ignored files and file modes, from an included file and from the person's own too."""
    folder = adopted(tmp_path / "vault")
    git(folder, "config", "--file", ".git/more", "core.autocrlf", "input")
    git(folder, "config", "include.path", "more")
    git(folder, "config", "--global", "core.excludesFile", "~/ignored")
    (Path.home() / "ignored").write_text("*.secret.md\n")
    repository = opened(folder)

    put(repository, folder, "x.md", CRLF)

    assert git(folder, "cat-file", "-s", "HEAD:x.md") == "8\n"
    with pytest.raises(Refused, match="ignores this path"):
        repository.refuse_unwritable(["a.secret.md"])


def test_a_changed_configuration_counts_at_once(tmp_path: Path) -> None:
    """An open repository sees what changed in the configuration and in a file that it includes."""
    folder = adopted(tmp_path / "vault")
    git(folder, "config", "include.path", "more")
    repository = opened(folder)
    plain = repository.blob_id("x.md", CRLF)

    git(folder, "config", "--file", ".git/more", "core.autocrlf", "input")
    converted = repository.blob_id("x.md", CRLF)
    git(folder, "config", "--file", ".git/more", "core.autocrlf", "false")

    assert converted != plain
    assert repository.blob_id("x.md", CRLF) == plain


def test_the_configuration_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a second call nor a second process starts git to read it again."""
    folder = adopted(tmp_path / "vault")
    opened(folder).revisions(None, ours=False, limit=1)
    calls: list[str] = []
    start = subprocess.Popen.__init__

    def record(self: "subprocess.Popen[bytes]", command: list[str], **options: object) -> None:
        calls.append(command[-1] if "config" not in command else "config")
        start(self, command, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(subprocess.Popen, "__init__", record)
    opened(folder).revisions(None, ours=False, limit=1)

    assert len(calls) == 2  # where the repository is, and its log
    assert "config" not in calls


def test_the_view_is_private_and_outside_the_vault(tmp_path: Path) -> None:
    """Nobody else can change what git reads."""
    folder = adopted(tmp_path / "vault")
    opened(folder).revisions(None, ours=False, limit=1)

    views = [each for each in views_folder().iterdir() if each.is_dir()]

    assert len(views) == 1
    assert views[0].stat().st_mode & 0o777 == 0o700
    assert not views[0].is_relative_to(folder)


# The caller's environment


def test_variables_of_the_caller_do_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hook that calls us, or a shell with git's variables set, neither diverts us nor runs a program."""
    folder, other = adopted(tmp_path / "vault"), adopted(tmp_path / "other")
    ran = script(tmp_path / "ran.sh", f"touch {tmp_path}/ran; exec cat")
    for name in (
        "EXTERNAL_DIFF",
        "SSH_COMMAND",
        "SSH",
        "PAGER",
        "EDITOR",
        "ASKPASS",
        "PROXY_COMMAND",
        "SEQUENCE_EDITOR",
    ):
        monkeypatch.setenv(f"GIT_{name}", str(ran))
    for name, value in {
        "DIR": other / ".git",
        "WORK_TREE": other,
        "COMMON_DIR": other / ".git",
        "INDEX_FILE": other / ".git/index",
        "OBJECT_DIRECTORY": other / ".git/objects",
        "TRACE2": tmp_path / "trace",
        "TRACE": tmp_path / "trace",
        "CONFIG_COUNT": 1,
        "CONFIG_KEY_0": "core.fsmonitor",
        "CONFIG_VALUE_0": ran,
        "CONFIG_PARAMETERS": f"'core.fsmonitor'='{ran}'",
        "CONFIG": tmp_path / "none",
        "NAMESPACE": "x",
        "CEILING_DIRECTORIES": "",
    }.items():
        monkeypatch.setenv(f"GIT_{name}", str(value))

    put(opened(folder), folder, "b.md", b"b\n")
    monkeypatch.undo()

    assert git(folder, "show", "HEAD:b.md") == "b\n"
    assert git(other, "log", "--format=%s") == "first\n"
    assert not (tmp_path / "ran").exists()
    assert not (tmp_path / "trace").exists()


@pytest.mark.parametrize("entry", ["", ".", "bin"])
def test_git_is_not_looked_up_in_the_vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry: str) -> None:
    """An empty or relative folder on the PATH leads into the vault: it is passed over."""
    folder = adopted(tmp_path / "vault")
    script(folder / "git", f"touch {tmp_path}/ran")
    script(folder / "bin/git", f"touch {tmp_path}/ran")
    path = subprocess.run(["sh", "-c", 'echo "$PATH"'], capture_output=True, text=True, check=True).stdout.strip()
    monkeypatch.setenv("PATH", f"{entry}:{path}")
    monkeypatch.chdir(folder)

    assert opened(folder).revisions(None, ours=False, limit=1)

    assert not (tmp_path / "ran").exists()


# Nothing is lost


@pytest.mark.parametrize("references", ["files", "reftable"])
def test_maintenance_under_our_configuration_keeps_everything_that_is_in_use(tmp_path: Path, references: str) -> None:
    """Branches, stashes, logs, staged files and the HEADs of linked working trees hold their objects."""
    if references == "reftable" and version() < (2, 45):
        pytest.skip("this git has no reftable")
    folder = adopted(tmp_path / "vault", *(["--ref-format=reftable"] if references == "reftable" else []))
    write(folder, "a.md", b"stashed\n")
    git(folder, "stash", "--quiet")
    git(folder, "worktree", "add", "--quiet", "--detach", "../linked")
    for place, name in ((folder, "lost"), (tmp_path / "linked", "detached")):
        write(place, f"{name}.md", name.encode())
        git(place, "add", f"{name}.md")
        git(place, "commit", "--quiet", f"--message={name}")
    git(folder, "reset", "--quiet", "--hard", "HEAD^")
    write(folder, "staged.md", b"staged\n")
    git(folder, "add", "staged.md")
    kept = git(folder, "rev-parse", "HEAD@{1}", "stash", ":staged.md") + git(tmp_path / "linked", "rev-parse", "HEAD")

    put(opened(folder), folder, "b.md", b"b\n")
    isolated = Git(folder)
    find(isolated)
    isolated.run("gc", "--quiet", "--prune=now")
    put(opened(folder), folder, "c.md", b"c\n")

    for each in kept.split():
        assert git(folder, "cat-file", "-t", each).strip() in ("commit", "blob")
    assert "dangling commit" not in git(folder, "fsck")
    assert git(folder, "show", "HEAD:b.md", "HEAD:c.md") == "b\nc\n"
    assert git(folder, "log", "-g", "--format=%s", "-2").splitlines()[0].endswith("c.md")
    assert git(folder, "worktree", "list").count("\n") == 2


# A damaged repository


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("HEAD", b""),
        ("HEAD", b"\0\0\0\0"),
        ("HEAD", b"ref: refs/heads/a b..c\n"),
        ("HEAD", None),
        ("refs/heads/main", b""),
        ("refs/heads/main", None),
    ],
)
def test_a_damaged_repository_is_named_and_the_hint_mends_it(tmp_path: Path, file: str, content: bytes | None) -> None:
    """Not `init`, which would fail or begin a new history: a command that works."""
    folder = adopted(tmp_path / "my vault")
    (folder / ".git" / file).unlink()
    if content is not None:
        (folder / ".git" / file).write_bytes(content)
    call = calling(folder)

    for words in (("init", str(folder)), ("note", "write", "Inbox/x.md")):
        refused = call(*words, given="x\n", named=words[0] != "init")
        assert refused.returncode == 5
        assert "repository is damaged" in refused.stderr
    with pytest.raises(VaultUnavailable, match="damaged") as caught:
        identity(Git(folder))
    command = re.search(r"Run: (printf .* > .*?(?:HEAD|main)'?)[.;]", caught.value.hint or "")
    assert command
    subprocess.run(["sh", "-c", command[1]], check=True)

    assert git(folder, "log", "--format=%s") == "first\n"
    assert call("init", str(folder), named=False).returncode == 0
    assert call("note", "write", "Inbox/x.md", given="x\n").returncode == 0
    assert git(folder, "log", "--format=%s").splitlines()[-1] == "first"


def test_a_damaged_repository_does_not_make_its_vault_a_part_of_the_one_above(tmp_path: Path) -> None:
    """Git would look further up: nothing is committed there."""
    top = adopted(tmp_path)
    folder = adopted(top / "vault")
    (folder / ".git/HEAD").write_bytes(b"")

    with pytest.raises(VaultUnavailable, match="damaged"):
        opened(folder)


@pytest.mark.parametrize("missing", ["refs", "objects"])
def test_a_repository_without_one_of_its_folders_is_damaged(tmp_path: Path, missing: str) -> None:
    """The hint is about that folder, not about `init` alone."""
    folder = adopted(tmp_path)
    (folder / ".git" / missing).rename(tmp_path / "away")

    with pytest.raises(VaultUnavailable, match=missing) as caught:
        opened(folder)

    assert "backup" in (caught.value.hint or "")
