"""The floors of ARCHITECTURE.md are enforced: each contract catches every violation of it that is planted."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]

# contract id -> new modules that break it, and what each of them contains
VIOLATIONS: dict[str, dict[str, str]] = {
    "floors": {
        "vault/above.py": "import commonplace.flows.read\n",
        "notes/beside.py": "import commonplace.policy.options\n",
        "model/above.py": "import commonplace.errors\n",
        "settings/beside.py": "import commonplace.memory\n",
        "history/beside.py": "import commonplace.vault.base\n",
    },
    "implementations": {
        "memory/one.py": "def lazily():\n    import commonplace.vault.local\n",
        "flows/one.py": "import commonplace.vault.inmemory\n",
        "flows/two.py": "from commonplace.history.sqlite.history import SqliteHistory\n",
        "memory/two.py": "def lazily():\n    import commonplace.history.inmemory\n",
        "history/one.py": "import commonplace.history.sqlite.history\n",
    },
    "doors": {
        "cli/one.py": "import commonplace.vault.base\n",
        "cli/two.py": "import commonplace.flows.read\n",
        "cli/three.py": "import commonplace.history.base\n",
    },
    "stages": {"notes/file.py": "import pathlib\n", "policy/clock.py": "def lazily():\n    import time\n"},
    "sql": {"flows/sql.py": "import sqlite3\n", "vault/sql.py": "def lazily():\n    import apsw\n"},
    "cycles": {
        "policy/one.py": "import commonplace.policy.two\n",
        "policy/two.py": "def lazily():\n    import commonplace.policy.one\n",
    },
}


def lint(folder: Path, files: dict[str, str]) -> str:
    """What import-linter says of a copy of the sources with these files in it."""
    shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__", "sample_vault"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    for name, text in files.items():
        path = folder / "src/commonplace" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    program = Path(sys.executable).with_name("lint-imports")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(folder / "src"))
        run = subprocess.run([program, "--no-cache"], cwd=folder, capture_output=True, text=True, check=False)
    assert run.returncode == 1, run.stdout
    return run.stdout


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What import-linter says when all the violations are made at once."""
    return lint(tmp_path_factory.mktemp("house"), {k: v for each in VIOLATIONS.values() for k, v in each.items()})


def title_of(contract: str) -> str:
    return next(str(each["name"]) for each in CONTRACTS if each["id"] == contract)


def test_every_contract_has_a_violation_tried_on_it() -> None:
    """A contract that nobody has seen fail proves nothing."""
    assert set(VIOLATIONS) == {contract["id"] for contract in CONTRACTS}


@pytest.mark.parametrize("contract", VIOLATIONS)
@pytest.mark.requirement("A-05")
def test_every_violation_is_caught(contract: str, report: str) -> None:
    """The import gate is one-way: a forbidden import, lazy or not, is named below the contract that forbids it."""
    title = re.escape(title_of(contract))
    details = re.search(rf"^{title}\n-+\n(.*?)(?=^[^\n]+\n-+\n|\Z)", report, re.MULTILINE | re.DOTALL)

    assert re.search(rf"^{title} BROKEN", report, re.MULTILINE), report
    assert details
    for name in VIOLATIONS[contract]:
        module = f"commonplace.{name.removesuffix('.py').replace('/', '.')}"
        named = f"cycles are allowed in {module.rpartition('.')[0]}." if contract == "cycles" else module

        assert named in details[1]


def test_a_room_on_no_floor_is_caught(tmp_path: Path) -> None:
    """A new room is put on a floor before it is used."""
    report = lint(tmp_path, {"helpers/__init__.py": ""})

    assert re.search(rf"^{re.escape(title_of('floors'))} BROKEN", report, re.MULTILINE), report
    assert "helpers" in report
