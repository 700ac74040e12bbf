"""What the fault runs found, in figures: a line for each run, and a table of all of them at the end.

The runs add their lines to the file that $FAULTS_FIGURES names; `python -m tests.faults.figures FILE` prints the table.
"""

import json
import os
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, Self

COLUMNS: Final = ("path", "kills", "acknowledged", "lost", "restored", "seconds", "load")


@dataclass
class Figures:
    """How one kind of fault went: a block around the run, at whose end the figures are told."""

    path: str
    kills: int = 0
    acknowledged: int = 0
    lost: int = 0
    restored: int = 0
    more: str = ""
    examples: int = 0
    steps: int = 0
    began: float = 0.0

    def add(self, *, steps: int, acknowledged: int = 0) -> None:
        """One more example of a state machine."""
        self.examples += 1
        self.steps += steps
        self.acknowledged += acknowledged
        self.more = f"{self.examples} examples, {self.steps} steps"

    def __enter__(self) -> Self:
        self.began = time.monotonic()
        return self

    def __exit__(self, *_: object) -> None:
        """Print the line, and add it to the file for the table: of a run that failed too."""
        said = {name: value for name, value in asdict(self).items() if name not in ("began", "examples", "steps")}
        said |= {"seconds": round(time.monotonic() - self.began), "load": round(os.getloadavg()[0], 1)}
        print(f"\n{line_of(said)}", flush=True)  # noqa: T201
        if file := os.environ.get("FAULTS_FIGURES"):
            with Path(file).open("a") as lines:
                lines.write(json.dumps(said) + "\n")


def line_of(said: dict[str, object]) -> str:
    """The figures as a sentence."""
    return (
        f"{said['path']}: {said['kills']} kills, {said['acknowledged']} acknowledged, {said['lost']} lost, "
        f"{said['restored']} restored, {said['seconds']} s, load {said['load']}; {said['more']}"
    )


def table_of(lines: list[dict[str, object]]) -> str:
    """A table in Markdown with a row for each run and their sum."""
    rows = [[str(line[name]) for name in COLUMNS] for line in lines]
    sums = [str(sum(int(str(line[name])) for line in lines)) for name in COLUMNS[1:-1]]
    header = [list(COLUMNS), ["---", *["---:"] * (len(COLUMNS) - 1)]]
    return "\n".join(f"| {' | '.join(row)} |" for row in (*header, *rows, ["all", *sums, ""]))


if __name__ == "__main__":
    print(table_of([json.loads(line) for line in Path(sys.argv[1]).read_text().splitlines()]))  # noqa: T201
