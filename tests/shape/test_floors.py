"""The floors of ARCHITECTURE.md are enforced: each contract catches a violation of it."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]

# contract id -> files that break it, and it alone where that is possible
VIOLATIONS: dict[str, list[dict[str, str]]] = {
    "floors": [
        {"vault/bad.py": "import commonplace.flows.read\n"},
        {"notes/bad.py": "import commonplace.policy.options\n"},
        {"model/bad.py": "import commonplace.errors\n"},
        {"settings/bad.py": "import commonplace.memory\n"},
        {"history/bad.py": "import commonplace.vault.base\n"},
        {"helpers/__init__.py": ""},
    ],
    "implementations": [
        {"memory/bad.py": "def lazily():\n    import commonplace.vault.local\n"},
        {"flows/bad.py": "import commonplace.vault.inmemory\n"},
        {"flows/bad.py": "from commonplace.history.sqlite import SqliteHistory\n"},
        {"memory/bad.py": "def lazily():\n    import commonplace.history.inmemory\n"},
        {"history/bad.py": "import commonplace.history.sqlite.history\n"},
    ],
    "doors": [
        {"cli/bad.py": "import commonplace.vault.base\n"},
        {"cli/bad.py": "import commonplace.flows.read\n"},
        {"cli/bad.py": "import commonplace.history.base\n"},
    ],
    "stages": [{"notes/bad.py": "import pathlib\n"}, {"policy/bad.py": "def lazily():\n    import time\n"}],
    "sql": [{"flows/bad.py": "import sqlite3\n"}, {"vault/bad.py": "def lazily():\n    import apsw\n"}],
    "cycles": [
        {
            "policy/one.py": "import commonplace.policy.two\n",
            "policy/two.py": "def lazily():\n    import commonplace.policy.one\n",
        }
    ],
}


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).with_name("lint-imports")
    return subprocess.run([program, "--no-cache"], cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the sources that import-linter reads instead of ours."""
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__", "sample_vault"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "src"))
    return tmp_path


def test_every_contract_has_a_violation_tried_on_it() -> None:
    """A contract that nobody has seen fail proves nothing."""
    assert set(VIOLATIONS) == {contract["id"] for contract in CONTRACTS}


@pytest.mark.requirement("A-05")
def test_the_house_as_it_is_keeps_every_contract(house: Path) -> None:
    """The build fails on any import of a concrete backend from anywhere but `app`; as it stands there is none."""
    run = lint(house)

    assert run.returncode == 0, run.stdout


@pytest.mark.parametrize(
    ("contract", "files"), [(name, files) for name, cases in VIOLATIONS.items() for files in cases]
)
@pytest.mark.requirement("A-05")
def test_a_violation_is_caught(house: Path, contract: str, files: dict[str, str]) -> None:
    """The import gate is one-way: a forbidden import, lazy or not, breaks the contract that forbids it."""
    for name, text in files.items():
        path = house / "src/commonplace" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    title = next(each["name"] for each in CONTRACTS if each["id"] == contract)

    run = lint(house)

    assert run.returncode == 1, run.stdout
    assert re.search(rf"^{re.escape(title)} BROKEN", run.stdout, re.MULTILINE), run.stdout
