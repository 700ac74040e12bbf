"""How the suite runs: tests in an order by seed, temporary folders in memory, a failure named when it happens.

Modules whose tests wait for whole programs come first: were one of them the last, the other workers would wait for it.

`--figures` prints at the end what decides how a run went: the seed, the temporary folder, processor time by family.
"""

import gc
import os
import random
import resource
import shutil
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import pytest

MEMORY: Final = Path("/dev/shm")
ENOUGH: Final = 4 << 30  # bytes; a whole run leaves 600 MB at most
DISK: Final = Path(os.environ.setdefault("TESTS_OF_THE_DISK", tempfile.gettempdir()))
"""Where tests of the disk itself have their folders; a worker inherits it."""
PROPERTY: Final = "processor seconds"
LONG: Final = ("docs", "e2e", "faults", "integration/web_page")
"""Families whose tests may take many seconds."""
TOGETHER: Final = ("integration/web_page",)
"""Families whose tests share what takes a worker seconds to start: a browser."""


def use_memory() -> None:
    """Put temporary folders into memory where it has room, unless the person named a place."""
    if "TMPDIR" not in os.environ and MEMORY.is_dir() and shutil.disk_usage(MEMORY).free >= ENOUGH:
        os.environ["TMPDIR"] = str(MEMORY)
        tempfile.tempdir = None


use_memory()


def in_order_of(seed: int, items: list[pytest.Item], *, workers: int = 1) -> list[pytest.Item]:
    """The tests of a module stay together, for they share fixtures; modules, and tests in each, are shuffled.

    Each worker begins with an equal part of the list: a part begins with long modules.
    """
    chance = random.Random(seed)
    modules = [list(group) for _, group in groupby(items, key=lambda item: item.path)]
    chance.shuffle(modules)
    groups: defaultdict[str, list[pytest.Item]] = defaultdict(list)
    for module in modules:
        chance.shuffle(module)
        family = family_of(module[0].nodeid)
        groups[family if family in TOGETHER else str(module[0].path)] += module
    parts: list[list[pytest.Item]] = [[] for _ in range(workers)]
    for group in sorted(groups.values(), key=lambda group: not family_of(group[0].nodeid).startswith(LONG)):
        min(parts, key=len).extend(group)
    return [item for part in parts for item in part]


def family_of(nodeid: str) -> str:
    """`unit/facts` for `tests/unit/facts/test_aging.py::test_x`, `e2e` for `tests/e2e/test_cli.py::test_y`."""
    return "/".join(nodeid.partition("::")[0].split("/")[1:-1])


def processor_seconds() -> float:
    """What this process and the processes that it has waited for have used."""
    ours, theirs = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return ours.ru_utime + ours.ru_stime + theirs.ru_utime + theirs.ru_stime


class Reporter:
    """What the run says while it goes on and at its end; one for the whole run, also with several workers."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._tests: Counter[str] = Counter()
        self._failures: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Name a failing test and its assertion at once."""
        if report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            reason = str(crash.message if crash else report.longrepr)[:1000]
            self._failures.append(f"FAILED {report.nodeid} ({report.when})\n  {reason}")
            self._config.get_terminal_writer().line(f"\n{self._failures[-1]}", red=True)
        if report.when == "teardown":
            family = family_of(report.nodeid)
            self._tests[family] += 1
            self._seconds[family] += float(str(dict(report.user_properties).get(PROPERTY, 0)))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """The failures again, each with its assertion; the figures, where they were asked for."""
        for failure in self._failures:
            terminalreporter.line(failure, red=True)
        if not self._config.getoption("figures"):
            return
        terminalreporter.section("figures")
        for family, seconds in sorted(self._seconds.items(), key=lambda each: -each[1]):
            terminalreporter.line(f"{seconds:8.1f} s of processor time  {self._tests[family]:6} tests  {family}")
        seconds = sum(self._seconds.values())
        terminalreporter.line(f"{seconds:8.1f} s of processor time  {self._tests.total():6} tests  all")
        terminalreporter.line(f"temporary folders: {tempfile.gettempdir()}; order: --seed {_seed(self._config)}")


def _seed(config: pytest.Config) -> int:
    return int(config.getoption("seed"))


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of this plugin."""
    group = parser.getgroup("suite")
    group.addoption("--seed", type=int, default=1, help="the order of the tests; 0 is the order of the files")
    group.addoption("--figures", action="store_true", help="print the seed and the processor time by family")


def pytest_configure(config: pytest.Config) -> None:
    """Report in the process that speaks to the person, not in its workers."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Reporter(config))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Shuffle them, in every worker alike."""
    if _seed(config):
        workers = getattr(config, "workerinput", {}).get("workercount", 1)
        items[:] = in_order_of(_seed(config), items, workers=workers)


def pytest_collection_finish() -> None:
    """What was loaded stays until the end: neither the collector nor a forked child has to touch it again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


@pytest.fixture
def on_disk() -> Iterator[Path]:
    """A folder on a disk, for tests about disks: `tmp_path` is in memory where that has room."""
    with tempfile.TemporaryDirectory(prefix="commonplace-", dir=DISK) as folder:
        yield Path(folder)


_began: dict[str, float] = {}


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logstart(nodeid: str) -> None:
    """Take the processor's time before the test is set up."""
    _began[nodeid] = processor_seconds()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    """Let the last report of a test carry the time of all three of its parts."""
    report = yield
    if call.when == "teardown":
        report.user_properties.append((PROPERTY, processor_seconds() - _began.pop(item.nodeid)))
    return report
