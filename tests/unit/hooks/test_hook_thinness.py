"""A hook costs the person who waits for it next to nothing to start."""

import subprocess
import sys
from pathlib import Path

import pytest

import commonplace.hooks
from commonplace.hooks.line import EVENTS, hook_line

MODULES = sorted(path.stem for path in Path(commonplace.hooks.__file__).parent.glob("*.py"))
HEAVY = {"dataclasses", "typing", "pathlib", "http", "email", "ssl", "subprocess", "threading", "inspect", "urllib"}


def loaded_by(program: str) -> set[str]:
    """The names of the modules that a program loads beyond those of a bare interpreter."""
    names = [
        subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True).stdout.split()
        for code in ("import sys; print(*sys.modules)", f"{program}; import sys; print(*sys.modules)")
    ]
    return {name for name in {*names[1]} - {*names[0]} if name.split(".")[0] != "encodings"}


@pytest.mark.requirement("A-41")
def test_a_hook_is_made_of_the_standard_library_and_the_client_alone() -> None:
    """Nothing else of Commonplace, nothing that has to be installed, and nothing that takes long to load."""
    names = {f"commonplace.hooks.{stem}" for stem in MODULES if stem != "__init__"}
    loaded = loaded_by(";".join(f"import {name}" for name in sorted(names)))
    ours = {name for name in loaded if name.startswith("commonplace.")}

    assert {name.split(".")[0] for name in loaded} - {*sys.stdlib_module_names} == {"commonplace"}
    assert ours - {"commonplace.hooks", *names} == {
        "commonplace.client",
        "commonplace.client.names",
        "commonplace.client.paths",
        "commonplace.client.vault_asked",
    }
    assert {name.split(".")[0] for name in loaded} & HEAVY == set()


def test_a_plain_import_of_the_package_loads_nothing() -> None:
    """Whatever else it has to give is loaded when it is asked for."""
    assert loaded_by("import commonplace") == {"commonplace"}


@pytest.mark.parametrize("event", EVENTS)
def test_a_line_for_a_hook_does_not_load_the_command_line(event: str) -> None:
    """Options may stand anywhere, with a blank or an equals sign, as the command line has it."""
    line = hook_line(["--vault", "/v", "-q", "hook", event, "--host=codex", "--phase", "plan"])

    assert line
    assert (line.event, line.host, line.phase, line.vault, line.wrong) == (event, "codex", "plan", "/v", "")


@pytest.mark.parametrize("line", ["hook --help", "hook prompt -h", "search hook", "--vault hook", "mcp", ""])
def test_help_and_every_other_command_are_the_command_lines(line: str) -> None:
    """`hook` is a word that people search for, too."""
    assert hook_line(line.split()) is None


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("hook", "no event is called ''"),
        ("hook promt", "no event is called 'promt'"),
        ("hook prompt --fast", "--fast is not understood"),
        ("hook prompt twice", "twice is not understood"),
        ("hook prompt --host ö", "no host is called 'ö'"),
        ("hook prompt --host=a/b", "no host is called 'a/b'"),
        (f"hook prompt --host={'a' * 65}", "no host is called 'aaa"),
    ],
)
def test_a_line_that_is_not_understood_is_still_a_hooks(line: str, wrong: str) -> None:
    """The command line would end with exit code 2, which a host takes for the wish to keep the prompt from it."""
    found = hook_line(line.split())

    assert found
    assert found.wrong.startswith(wrong)
