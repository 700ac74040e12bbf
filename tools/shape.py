"""The shape of the sources in figures: modules, their lines and importers, long functions, names used twice.

.venv/bin/python tools/shape.py            # the whole program and each room
.venv/bin/python tools/shape.py flows      # one room, module by module
"""

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

SOURCES: Final = Path(__file__).parents[1] / "src"
LONG: Final = 50
"""Lines above which a function wants to be two."""


@dataclass(frozen=True, slots=True)
class Module:
    """One source file, parsed."""

    name: str
    lines: int
    tree: ast.Module

    @property
    def room(self) -> str:
        """The package or module below `commonplace` that it belongs to."""
        return self.name.split(".")[1] if "." in self.name else ""

    @property
    def functions(self) -> list[int]:
        """The lines of each function."""
        nodes = (node for node in ast.walk(self.tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
        return [(node.end_lineno or node.lineno) - node.lineno + 1 for node in nodes]

    @property
    def classes(self) -> list[str]:
        """The public classes that it defines."""
        return [node.name for node in self.tree.body if isinstance(node, ast.ClassDef) and node.name[0] != "_"]


def read_modules() -> dict[str, Module]:
    """Every module of the program by its dotted name."""
    modules = {}
    for path in sorted(SOURCES.rglob("*.py")):
        name = ".".join(path.relative_to(SOURCES).with_suffix("").parts).removesuffix(".__init__")
        text = path.read_text(encoding="utf-8")
        modules[name] = Module(name, text.count("\n"), ast.parse(text))
    return modules


def importers(modules: dict[str, Module]) -> dict[str, set[str]]:
    """For each module those that import it, lazily or for types alone included."""
    found = {name: set[str]() for name in modules}
    for module in modules.values():
        for target in _imports(module, modules):
            if target != module.name:
                found[target].add(module.name)
    return found


def _imports(module: Module, modules: dict[str, Module]) -> Iterator[str]:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ImportFrom) and node.module in modules:
            names = (f"{node.module}.{alias.name}" for alias in node.names)
            yield from (name if name in modules else node.module or "" for name in names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)


def classes_defined_twice(modules: dict[str, Module]) -> dict[str, list[str]]:
    """Public class names that two or more modules define, with these modules."""
    homes = defaultdict[str, list[str]](list)
    for module in modules.values():
        for name in module.classes:
            homes[name].append(module.name)
    return {name: where for name, where in homes.items() if len(where) > 1}


def line_of(label: str, group: Sequence[Module], imported_by: dict[str, set[str]]) -> str:
    """The figures of some modules in one line."""
    once = sum(len(imported_by[module.name]) == 1 for module in group)
    functions = [lines for module in group for lines in module.functions]
    return (
        f"{label:14} {len(group):4} modules  {sum(module.lines for module in group):6} lines  "
        f"median {median(module.lines for module in group):5.0f}  one importer {once:3} ({once / len(group):.0%})  "
        f"{len(functions):5} functions, {sum(lines > LONG for lines in functions)} over {LONG} lines"
    )


def main() -> None:
    """Print the figures."""
    modules = read_modules()
    imported_by = importers(modules)
    rooms = defaultdict[str, list[Module]](list)
    for module in modules.values():
        rooms[module.room].append(module)
    if sys.argv[1:]:
        for module in rooms[sys.argv[1]]:
            print(f"{module.lines:5}  {module.name}  <- {len(imported_by[module.name])}")
        return
    print(line_of("all", [*modules.values()], imported_by))
    for room, group in sorted(rooms.items()):
        print(line_of(room or "-", group, imported_by))
    for name, where in sorted(classes_defined_twice(modules).items()):
        print(f"class {name} is defined in {', '.join(where)}")


if __name__ == "__main__":
    main()
