"""Breaks the program on purpose, one line at a time, and prints which test notices.

A mutant is a copy of src/commonplace with one changed place. Chosen mutants stand in tools/mutants.toml: each breaks
the contract of one row of docs/requirements.md. Random ones follow from a seed and the sources. A mutant is run against
the tests that are marked with its row, then against "the room": the test files nearest to the changed module by name
and by imports. It is killed if a test fails that passes without it; else it survives.

    python -m tools.mutants                          # all chosen mutants
    python -m tools.mutants --rows A-37 I-66         # those of two rows
    python -m tools.mutants --seed 7 --count 20      # 20 random ones
    python -m tools.mutants --seed 7 --list          # shows what would be changed, and runs nothing
    python -m tools.mutants --all --files 20 --json  # every killer, in a larger room, as JSON

The working tree is never changed: mutants stand in a temporary folder, in memory where there is /dev/shm.
"""

import argparse
import ast
import copy
import difflib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

from tools.requirements import ROOT, Holder, holders

SOURCES: Final = ROOT / "src" / "commonplace"
FAMILIES: Final = ("unit", "property", "contract", "integration", "e2e")
"""Folders of tests that may stand in a room, the quick ones first."""
FILES: Final = 4
"""Test files of a room beside those of the marked tests."""
_TEST_SECONDS: Final = 120  # a mutant that loops for ever is noticed by then
_RUN_SECONDS: Final = 900
_IMPORT: Final = re.compile(r"from (commonplace[\w.]*) import (\([^)]*\)|[^\n]*)")
_FAILURE: Final = re.compile(r"^(?:FAILED|ERROR) ([^\s\[]+)", re.MULTILINE)

_OPPOSITES: Final[Sequence[tuple[type[ast.cmpop], type[ast.cmpop]]]] = (
    (ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.Eq, ast.NotEq), (ast.In, ast.NotIn), (ast.Is, ast.IsNot)
)  # fmt: skip
_COMPARISONS: Final = {one: other for pair in _OPPOSITES for one, other in (pair, pair[::-1])}
_EMPTY: Final[dict[type[ast.expr], str]] = {
    ast.Tuple: "()",
    ast.List: "[]",
    ast.ListComp: "[]",
    ast.Dict: "{}",
    ast.DictComp: "{}",
    ast.JoinedStr: "''",
}


@dataclass(frozen=True, slots=True)
class Mutant:
    """The bytes from `start` to `end` of a file below src/commonplace, and what takes their place."""

    name: str
    file: str
    start: int
    end: int
    new: bytes
    breaks: str
    row: str = ""

    def changed(self, source: bytes) -> bytes:
        """The file with the change."""
        return source[: self.start] + self.new + source[self.end :]

    def difference(self, source: bytes) -> str:
        """The change as a unified diff without context."""
        old, new = source.decode().splitlines(), self.changed(source).decode().splitlines()
        return "\n".join([*difflib.unified_diff(old, new, n=0, lineterm="")][2:])


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a mutant ended: `by` is `marked` or `room` if it was killed, else `survived`."""

    mutant: Mutant
    by: str
    killers: tuple[str, ...]
    seconds: float


# ---------------------------------------------------------------- which mutants


def chosen_mutants() -> list[Mutant]:
    """The mutants of tools/mutants.toml. Raises ValueError unless each old text stands once in its file."""
    listed = tomllib.loads((ROOT / "tools/mutants.toml").read_text(encoding="utf-8"))["mutant"]
    return [_chosen(**each) for each in listed]


def _chosen(row: str, file: str, old: str, new: str, breaks: str) -> Mutant:
    source = (SOURCES / file).read_bytes()
    count = source.count(old.encode())
    if count != 1:
        raise ValueError(f"tools/mutants.toml: {row}: the old text stands {count} times in {file}, not once: {old!r}")
    start = source.index(old.encode())
    return Mutant(row, file, start, start + len(old.encode()), new.encode(), breaks, row)


def random_mutants(seed: int, count: int) -> list[Mutant]:
    """The first `count` mutants in an order that the seed and the sources decide."""
    files = sorted(path.relative_to(SOURCES).as_posix() for path in SOURCES.rglob("*.py"))
    every = [mutant for file in files for mutant in mutants_of(file, (SOURCES / file).read_bytes())]
    random.Random(seed).shuffle(every)
    return every[:count]


def mutants_of(file: str, source: bytes) -> Iterator[Mutant]:
    """Every mutant of a file that a rule makes, in the order of the syntax tree."""
    lines = [0]
    for line in source.splitlines(keepends=True):
        lines.append(lines[-1] + len(line))
    tree = ast.parse(source)
    left_out = {id(each) for node in ast.walk(tree) for part in _parts_left_out(node) for each in ast.walk(part)}
    for node in ast.walk(tree):
        for place, new, breaks in _changes(node) if id(node) not in left_out else ():
            start = lines[place.lineno - 1] + place.col_offset
            end = lines[(place.end_lineno or 0) - 1] + (place.end_col_offset or 0)
            yield Mutant(f"{file}:{place.lineno}", file, start, end, new.encode(), breaks)


def _parts_left_out(node: ast.AST) -> Iterator[ast.AST]:
    """What runs without effect, such as annotations, and f-strings, in which Python 3.11 knows no places."""
    match node:
        case ast.JoinedStr() | ast.If(test=ast.Name("TYPE_CHECKING")):
            yield node
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield from node.decorator_list
    yield from filter(None, (getattr(node, name, None) for name in ("annotation", "returns")))


def _changes(node: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, str, str]]:
    """The places to change for a node, each with its new text and the name of the rule."""
    match node:
        case ast.Compare(ops=[op]) if type(op) in _COMPARISONS:
            yield node, _with(node, ops=[_COMPARISONS[type(op)]()]), "comparison turned"
        case ast.BoolOp(op=op):
            yield node, _with(node, op=ast.Or() if isinstance(op, ast.And) else ast.And()), "and/or swapped"
        case ast.If(test=test) | ast.IfExp(test=test):
            yield test, f"(not ({ast.unparse(test)}))", "condition negated"
        case ast.Constant(value=bool() as value):
            yield node, str(not value), "constant changed"
        case ast.Constant(value=int() as value):
            yield node, str(value + 1), "constant changed"
        case ast.BinOp(op=ast.Add() | ast.Sub(), right=ast.Constant(value=int())):
            yield node, _with(node, op=ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()), "+ and - swapped"
        case ast.Call(func=ast.Name("min" | "max" as name)):
            yield node.func, "max" if name == "min" else "min", "min/max swapped"
    if isinstance(node, ast.stmt):
        yield from _changes_of_statement(node)


def _changes_of_statement(node: ast.stmt) -> Iterator[tuple[ast.stmt, str, str]]:
    match node:
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
            yield node, f"return {_EMPTY.get(type(value))}", "nothing returned"
        case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Raise():
            yield node, "pass", "statement deleted"


def _with(node: ast.expr, **fields: Any) -> str:
    new = copy.copy(node)
    for name, value in fields.items():
        setattr(new, name, value)
    return f"({ast.unparse(new)})"


# ---------------------------------------------------------------- which tests


def marked_tests(row: str) -> tuple[str, ...]:
    """The tests that hold a row."""
    return tuple(f"tests/{each.path}::{each.name}" for each in all_holders() if row in each.ids)


@cache
def all_holders() -> tuple[Holder, ...]:
    """Every test that holds a row."""
    return tuple(holders())


def room(mutant: Mutant, files: int) -> tuple[str, ...]:
    """The test files nearest to the mutant.

    Those of its marked tests come first, then those that have the name of its module or import it, then those that
    import a module that does, then those in the folder of its room; among equals, those that name the function most
    often, then the module. A package that has the module's names counts as the module.
    `files` counts the others beside those of the marked tests. They are run by family: the quick ones first.
    """
    module = f"commonplace.{mutant.file.removesuffix('.py').replace('/', '.')}".removesuffix(".__init__")
    place, _, stem = module.removeprefix("commonplace.").rpartition(".")
    importing = {name for name, imported in imports().items() if module in imported}
    direct = {module} | (importing & {module.rpartition(".")[0]})
    function = _function_of(mutant)
    own = {each.partition("::")[0] for each in marked_tests(mutant.row)}
    ranks = dict[str, tuple[int, bool, int, int]]()
    for path, test in test_files().items():
        is_neighbour = f"/{place.partition('.')[0]}/" in path or (place == "cli" and path.endswith("_cli.py"))
        is_direct = bool(test.imported & direct) or _is_named_for(path, module)
        near = (path in own, is_direct, bool(test.imported & importing), is_neighbour)
        if any(near):
            counts = -test.text.count(function), -test.text.count(stem)
            ranks[path] = near.index(True), ("/e2e/" in path) != (place == "cli"), *counts
    nearest = sorted(ranks, key=lambda path: (*ranks[path], path))[: files + len(own & ranks.keys())]
    return tuple(sorted(nearest, key=lambda path: (FAMILIES.index(path.split("/")[1]), nearest.index(path))))


@cache
def imports() -> dict[str, frozenset[str]]:
    """The modules of the program, each with those that it imports."""
    files = {path.relative_to(SOURCES.parent): path.read_text(encoding="utf-8") for path in SOURCES.rglob("*.py")}
    names = {path: ".".join(path.with_suffix("").parts).removesuffix(".__init__") for path in files}
    return {names[path]: _imported(text, {*names.values()}) for path, text in files.items()}


def _imported(text: str, modules: Collection[str]) -> frozenset[str]:
    pairs = ((module, name) for module, names in _IMPORT.findall(text) for name in re.findall(r"\w+", names))
    return frozenset(f"{module}.{name}" if f"{module}.{name}" in modules else module for module, name in pairs)


@dataclass(frozen=True, slots=True)
class TestFile:
    """A file of tests: its text, and the modules of the program that it imports."""

    text: str
    imported: frozenset[str]


@cache
def test_files() -> dict[str, TestFile]:
    """The files of tests that may stand in a room, each with the modules of the program that it imports."""
    paths = sorted(path for family in FAMILIES for path in (ROOT / "tests" / family).rglob("test_*.py"))
    texts = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in paths}
    return {path: TestFile(text, _imported(text, imports().keys())) for path, text in texts.items()}


def _function_of(mutant: Mutant) -> str:
    """The name of the function in which the change is, without underscores before it; else the module's file."""
    source = (SOURCES / mutant.file).read_bytes()[: mutant.end]
    names = re.findall(rb"def _*(\w+)", source)
    return names[-1].decode() if names else mutant.file


def _is_named_for(path: str, module: str) -> bool:
    """True for `test_notes_write.py` and the module `commonplace.flows.notes.write`, for `test_write_cli.py`, too."""
    words = Path(path).stem.removeprefix("test_").removesuffix("_cli")
    return f"_{module.replace('.', '_')}".endswith(f"_{words}")


# ---------------------------------------------------------------- run


@dataclass(frozen=True, slots=True)
class Bench:
    """A folder with two copies of the sources, `clean` and `mutant`, and the tests that fail in the clean one, too."""

    folder: Path
    every_killer: bool = False
    unsound: set[str] = field(default_factory=set)

    def prepare(self) -> None:
        """Make the copies. Raises RuntimeError if Python would import another one."""
        for name in ("clean", "mutant"):
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(SOURCES, self.folder / name / "commonplace", ignore=ignored)
            script = "import commonplace; print(commonplace.__file__)"
            run = subprocess.run(
                [sys.executable, "-c", script], env=self._environment(name), capture_output=True, text=True, check=True
            )
            if not run.stdout.startswith(str(self.folder / name)):
                raise RuntimeError(f"Python imports {run.stdout.strip()} and not the copy in {self.folder}")

    def judge(self, mutant: Mutant, files: int) -> Outcome:
        """Run the marked tests, then the room, until one of them kills the mutant."""
        start, source = time.monotonic(), (SOURCES / mutant.file).read_bytes()
        self._put(mutant.file, mutant.changed(source))
        by, killers = "survived", tuple[str, ...]()
        for name, tests in (("marked", marked_tests(mutant.row)), ("room", room(mutant, files))):
            if tests and (found := self._killers(tests)):
                by, killers = (name if by == "survived" else by), tuple(dict.fromkeys((*killers, *found)))
                if not self.every_killer:
                    break
        self._put(mutant.file, source)
        return Outcome(mutant, by, killers, round(time.monotonic() - start, 1))

    def _put(self, file: str, content: bytes) -> None:
        path = self.folder / "mutant" / "commonplace" / file
        path.write_bytes(content)
        for compiled in path.parent.glob(f"__pycache__/{path.stem}.*"):  # of the same second and size, perhaps
            compiled.unlink()

    def _killers(self, tests: Sequence[str]) -> tuple[str, ...]:
        """The tests that fail with the mutant and pass without it; the first one alone unless all are wanted."""
        while failed := self._failures(tests, "mutant"):
            broken = {test for test in failed if self._failures([test] if "::" in test else tests, "clean")}
            self.unsound.update(broken)
            if sound := tuple(test for test in failed if test not in broken):
                return sound
            if not any("::" in test for test in broken):
                raise RuntimeError(f"{', '.join(broken)} fails without a mutant, too")
        return ()

    def _failures(self, tests: Sequence[str], copy: str) -> tuple[str, ...]:
        """The tests that fail; "a run that never ended" or the like if the run failed without naming one."""
        command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "--tb=no", "--color=no", "-p", "no:cacheprovider"]
        command += [f"--timeout={_TEST_SECONDS}", *(() if self.every_killer else ("-x",))]
        command += [f"--deselect={test}" for test in sorted(self.unsound)] if copy == "mutant" else []
        with tempfile.TemporaryDirectory(dir=self.folder, ignore_cleanup_errors=True) as temporary:
            environment = self._environment(copy) | {"TMPDIR": temporary}
            code, output = _run([*command, *tests], environment)
        if code in (0, 5):  # passed, or all were deselected
            return ()
        return tuple(dict.fromkeys(_FAILURE.findall(output))) or (f"pytest ended with {code}",)

    def _environment(self, copy: str) -> dict[str, str]:
        return {**os.environ, "PYTHONPATH": str(self.folder / copy)}


def _run(command: Sequence[str], environment: dict[str, str]) -> tuple[int | str, str]:
    """The exit status and the output; the process group is ended with us, and if it takes too long."""
    out, err = subprocess.PIPE, subprocess.STDOUT
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, text=True, start_new_session=True, stdout=out, stderr=err
    ) as process:
        try:
            output, _ = process.communicate(timeout=_RUN_SECONDS)
            return process.returncode, output
        except subprocess.TimeoutExpired:
            return "a timeout", ""
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


# ---------------------------------------------------------------- report


def line_of(outcome: Outcome) -> str:
    """One line that says who killed the mutant."""
    end = f"killed by {', '.join(outcome.killers)} ({outcome.by})" if outcome.killers else "SURVIVED"
    return f"{outcome.mutant.name:32} {outcome.seconds:6.1f} s  {end}"


def shown(mutant: Mutant) -> str:
    """What the mutant breaks, and its change."""
    difference = mutant.difference((SOURCES / mutant.file).read_bytes())
    return f"{mutant.name} ({mutant.file}): {mutant.breaks}\n{difference}"


def table(outcomes: Sequence[Outcome]) -> str:
    """How many were killed by whom, and the survivors with their changes."""
    counts = {by: sum(each.by == by for each in outcomes) for by in ("marked", "room", "survived")}
    lines = ["", "| mutants | killed by marked tests | killed by the room | survived |", "|---|---|---|---|"]
    lines += [f"| {len(outcomes)} | {counts['marked']} | {counts['room']} | {counts['survived']} |"]
    lines += [f"\nsurvived: {shown(each.mutant)}" for each in outcomes if each.by == "survived"]
    return "\n".join(lines)


def main() -> None:
    """Run the mutants that the options choose. Exits with 1 for a list that is wrong, or a survivor under --strict."""
    options = _parser().parse_args()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda caught, _: sys.exit(128 + caught))
    try:
        mutants = _mutants(options.rows, options.seed, options.count)
    except ValueError as error:
        sys.exit(str(error))
    if options.list:
        print("\n\n".join(map(shown, mutants)))
        return
    outcomes = list[Outcome]()
    try:
        _judge(mutants, options, outcomes)
    finally:  # after Ctrl-C, what is known by then
        print(json.dumps([_plain(each) for each in outcomes], indent=2) if options.json else table(outcomes))
    sys.exit(options.strict and any(each.by == "survived" for each in outcomes))


def _judge(mutants: Sequence[Mutant], options: argparse.Namespace, outcomes: list[Outcome]) -> None:
    """Add the outcome of each mutant, and print it."""
    progress = sys.stderr if options.json else sys.stdout
    memory = Path("/dev/shm") if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(prefix="mu-", dir=memory, ignore_cleanup_errors=True) as folder:
        bench = Bench(Path(folder), every_killer=options.all)
        bench.prepare()
        for mutant in mutants:
            outcomes.append(bench.judge(mutant, options.files))
            print(line_of(outcomes[-1]), file=progress, flush=True)
    for test in sorted(bench.unsound):
        print(f"{test} fails without a mutant, too: it was left out", file=progress)


def _mutants(rows: Iterable[str], seed: int | None, count: int) -> list[Mutant]:
    """The mutants of these rows, or the random ones, or all chosen ones. Raises ValueError for a row without one."""
    if seed is not None and not rows:
        return random_mutants(seed, count)
    chosen, wanted = chosen_mutants(), {*rows}
    if unknown := wanted - {each.row for each in chosen}:
        raise ValueError(f"no chosen mutant is of {', '.join(sorted(unknown))}: tools/mutants.toml lists them")
    return [each for each in chosen if not wanted or each.row in wanted]


def _plain(outcome: Outcome) -> dict[str, Any]:
    mutant = asdict(outcome.mutant) | {"new": outcome.mutant.new.decode()}
    return mutant | {"by": outcome.by, "killers": outcome.killers, "seconds": outcome.seconds}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", nargs="+", default=[], metavar="ROW", help="chosen mutants of these rows alone")
    parser.add_argument("--seed", type=int, help="random mutants of this seed instead of the chosen ones")
    parser.add_argument("--count", type=int, default=20, help="how many random mutants (20)")
    parser.add_argument(
        "--files", type=int, default=FILES, help=f"test files in a room beside those of the marked tests ({FILES})"
    )
    parser.add_argument("--all", action="store_true", help="go on after the first killer and list them all")
    parser.add_argument("--list", action="store_true", help="show the mutants and run nothing")
    parser.add_argument("--json", action="store_true", help="print the outcomes as JSON, and progress to stderr")
    parser.add_argument("--strict", action="store_true", help="exit with 1 if a mutant survives")
    return parser


if __name__ == "__main__":
    main()
