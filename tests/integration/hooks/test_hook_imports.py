"""A hook costs the person who waits for it next to nothing to start."""

import subprocess
import sys
from pathlib import Path

import commonplace.hooks

MODULES = sorted(path.stem for path in Path(commonplace.hooks.__file__).parent.glob("*.py"))
HEAVY = {"dataclasses", "typing", "pathlib", "http", "email", "ssl", "subprocess", "threading", "inspect", "urllib"}


def loaded_by(program: str) -> set[str]:
    """The names of the modules that a program loads beyond those of a bare interpreter."""
    names = [
        subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True).stdout.split()
        for code in ("import sys; print(*sys.modules)", f"{program}; import sys; print(*sys.modules)")
    ]
    return {name for name in {*names[1]} - {*names[0]} if name.split(".")[0] != "encodings"}


def test_a_hook_is_made_of_the_standard_library_and_the_client_alone() -> None:
    """Nothing else of Commonplace, nothing that has to be installed, and nothing that takes long to load."""
    names = {f"commonplace.hooks.{stem}" for stem in MODULES if stem != "__init__"}
    loaded = loaded_by(";".join(f"import {name}" for name in sorted(names)))
    ours = {name for name in loaded if name.startswith("commonplace.")}

    assert {name.split(".")[0] for name in loaded} - {*sys.stdlib_module_names} == {"commonplace"}
    assert ours - {"commonplace.hooks", *names} == {
        "commonplace.agent_hosts",
        "commonplace.client",
        "commonplace.client.paths",
    }
    assert {name.split(".")[0] for name in loaded} & HEAVY == set()


def test_a_plain_import_of_the_package_loads_nothing() -> None:
    """Whatever else it has to give is loaded when it is asked for."""
    assert loaded_by("import commonplace") == {"commonplace"}
