"""`init` is killed at any step: the vault has a whole repository or none, and the next `init` finishes."""

import os
import signal
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from commonplace.vault.paths import is_temporary
from tests.command_line import run_commonplace
from tests.gitvault import git, status

BASELINE = "commonplace.vault.git.baseline"
REGISTRATION = "commonplace.app.registration"
STEPS = (
    (f"{REGISTRATION}:carry_out_init", "before"),
    (f"{BASELINE}:new_temporary_name", "after"),
    (f"{BASELINE}:write_info", "before"),
    (f"{BASELINE}:write_info", "after"),
    (f"{BASELINE}:_stage", "after"),
    (f"{BASELINE}:_commit", "before"),
    (f"{BASELINE}:_commit", "after"),
    (f"{BASELINE}:os.rename", "before"),
    (f"{BASELINE}:os.rename", "after"),
    (f"{REGISTRATION}:_register", "before"),
    (f"{REGISTRATION}:_register", "after"),
    (f"{BASELINE}:shutil.rmtree", "before"),
)


def _kill_init(root: Path, target: str, moment: str) -> None:
    """Run `init` in a child that is killed right before or after the first call of that function."""
    child = os.fork()
    if child == 0:
        try:
            _arm(target, moment)
            run_commonplace("init", str(root))
        finally:
            os._exit(1)  # whatever happens, no second pytest comes out of this
    _, ended = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(ended) == -signal.SIGKILL


def _arm(target: str, moment: str) -> None:
    module, _, names = target.partition(":")
    *owners, name = names.split(".")
    owner: Any = import_module(module)
    for each in owners:
        owner = getattr(owner, each)
    real = getattr(owner, name)

    def deadly(*arguments: Any, **named: Any) -> Any:
        if moment == "after":
            real(*arguments, **named)
        os.kill(os.getpid(), signal.SIGKILL)

    setattr(owner, name, deadly)


@pytest.mark.parametrize("step", STEPS, ids=lambda step: f"{step[1]} {step[0].partition(':')[2]}")
def test_a_killed_init_is_finished_by_the_next(tmp_path: Path, step: tuple[str, str]) -> None:
    """The baseline has every note, the vault is registered, a write works, and nothing is left of the first try."""
    root = tmp_path / "Notes"
    root.mkdir()
    for name in ("a.md", "b.md"):
        (root / name).write_text(f"{name}\n")
    _kill_init(root, *step)
    left = (root / ".git").exists()
    whole = not left or git(root, "log", "-1", "--format=%s") == "commonplace: baseline of existing files\n"
    again = run_commonplace("init", str(root))
    written = run_commonplace("--vault", str(root), "note", "write", "Inbox/new.md", given="# New\n\nwords\n")
    listed = run_commonplace("vault", "list")

    assert whole
    assert (again.returncode, written.returncode) == (0, 0), again.stderr + written.stderr
    assert str(root) in listed.stdout
    assert git(root, "ls-tree", "-r", "--name-only", "HEAD").split() == ["Inbox/new.md", "a.md", "b.md"]
    assert git(root, "log", "--format=%s").splitlines()[-1] == "commonplace: baseline of existing files"
    assert status(root) == []
    assert [path.name for path in root.iterdir() if is_temporary(path.name)] == []
