"""`make mutants` breaks what its list says, and chooses the same random mutants for the same seed and sources."""

import ast
from pathlib import Path

import pytest

from tools import mutants, requirements
from tools.mutants import Mutant, Outcome


def test_every_chosen_mutant_changes_one_place_of_the_program() -> None:
    """Its old text stands exactly once in its file, the new text parses, and its row exists."""
    rows = {row.id for row in requirements.rows()}
    for mutant in mutants.chosen_mutants():
        source = (mutants.SOURCES / mutant.file).read_bytes()

        assert ast.dump(ast.parse(mutant.changed(source))) != ast.dump(ast.parse(source)), mutant.name
        assert mutant.row in rows


@pytest.mark.parametrize("text", ["return 1", "return 1\nreturn 1"])
def test_a_list_that_is_no_longer_true_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """The old text must stand once: not twice, and not changed meanwhile."""
    (tmp_path / "src").mkdir()
    (tmp_path / "tools").mkdir()
    (tmp_path / "src/a.py").write_text(text.replace("1", "2") if "\n" not in text else text)
    listed = '[[mutant]]\nrow = "D-01"\nfile = "a.py"\nold = "return 1"\nnew = "return 2"\nbreaks = "One."\n'
    (tmp_path / "tools/mutants.toml").write_text(listed)
    monkeypatch.setattr(mutants, "ROOT", tmp_path)
    monkeypatch.setattr(mutants, "SOURCES", tmp_path / "src")

    with pytest.raises(ValueError, match=r"D-01: the old text stands [02] times in a\.py"):
        mutants.chosen_mutants()


@pytest.mark.parametrize(
    ("source", "changed"),
    [
        ("x = a < b", "x = (a <= b)"),
        ("x = a and b", "x = (a or b)"),
        ("x = 'ä' if a else 1", "x = 'ä' if (not (a)) else 1"),
        ("if a:\n    b = c", "if (not (a)):\n    b = c"),
        ("x = True", "x = False"),
        ("x = y[7]", "x = y[8]"),
        ("x = y - 1", "x = (y + 1)"),
        ("x = min(a, b)", "x = max(a, b)"),
        ("def f():\n    return a", "def f():\n    return None"),
        ("def f():\n    return (\n        a,\n        b,\n    )", "def f():\n    return ()"),
        ("def f():\n    a()\n    b = c", "def f():\n    pass\n    b = c"),
        ("def f():\n    raise a", "def f():\n    pass"),
    ],
)
def test_a_rule_changes_one_place(source: str, changed: str) -> None:
    """Every mutant of a source parses and differs from it."""
    texts = [mutant.changed(source.encode()) for mutant in mutants.mutants_of("a.py", source.encode())]

    assert changed.encode() in texts
    assert all(ast.dump(ast.parse(text)) != ast.dump(ast.parse(source)) for text in texts)


@pytest.mark.parametrize(
    "source",
    ['x = f"{a + 1}"', "@f(x=1)\nclass A: pass", "def f(a: 1) -> 2: pass", "a: 1", "if TYPE_CHECKING:\n    f()"],
)
def test_what_has_no_effect_is_not_changed(source: str) -> None:
    """Annotations, decorators and imports for types alone have no mutants, nor have f-strings."""
    assert list(mutants.mutants_of("a.py", source.encode())) == []


def test_a_seed_decides_the_random_mutants(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A larger count begins with the mutants of a smaller one; another seed has others."""
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text("".join(f"x = {number}\n" for number in range(50)))
    monkeypatch.setattr(mutants, "SOURCES", tmp_path)

    assert mutants.random_mutants(7, 5) == mutants.random_mutants(7, 20)[:5]
    assert mutants.random_mutants(7, 5) != mutants.random_mutants(8, 5)


def test_a_room_is_the_nearest_test_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """The files of marked tests, then name and import of the module, its importers, its folder; run by family."""
    imports = {
        "tests/unit/flows/test_other.py": "",
        "tests/e2e/test_write_cli.py": "",
        "tests/unit/web/test_routes.py": "commonplace.flows.undo",
        "tests/integration/flows/test_changes.py": "commonplace.flows.notes.write",
        "tests/integration/flows/test_notes_write.py": "",
        "tests/unit/facts/test_integrate.py": "",
        "tests/unit/facts/test_far.py": "commonplace.facts.integrate",
    }
    files = {path: mutants.TestFile("write" * ("notes" in path), frozenset({name})) for path, name in imports.items()}
    holder = requirements.Holder("unit/facts/test_integrate.py", "test_x", ("I-59",), None)
    monkeypatch.setattr(mutants, "all_holders", lambda: (holder,))
    monkeypatch.setattr(mutants, "test_files", lambda: files)
    monkeypatch.setattr(mutants, "imports", lambda: {"commonplace.flows.undo": {"commonplace.flows.notes.write"}})
    mutant = Mutant("I-59", "flows/notes/write.py", 0, 1, b"", "", row="I-59")
    order = ["integrate", "notes_write", "changes", "write_cli", "routes", "other"]
    for count in range(6):
        stems = {Path(path).stem.removeprefix("test_") for path in mutants.room(mutant, count)}

        assert stems == {*order[: count + 1]}

    assert [path.split("/")[1] for path in mutants.room(mutant, 4)] == [
        "unit",
        "unit",
        "integration",
        "integration",
        "e2e",
    ]


def test_the_table_counts_and_shows_the_survivors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each mutant has one line; a survivor is shown with its change."""
    (tmp_path / "a.py").write_text("x = 1\n")
    monkeypatch.setattr(mutants, "SOURCES", tmp_path)
    (mutant,) = mutants.mutants_of("a.py", b"x = 1\n")
    outcomes = [Outcome(mutant, "marked", ("tests/b.py::test_c",), 1.0), Outcome(mutant, "survived", (), 2.0)]

    assert mutants.line_of(outcomes[0]).endswith("1.0 s  killed by tests/b.py::test_c (marked)")
    assert "| 2 | 1 | 0 | 1 |" in mutants.table(outcomes)
    assert mutants.table(outcomes).endswith("constant changed\n@@ -1 +1 @@\n-x = 1\n+x = 2")
