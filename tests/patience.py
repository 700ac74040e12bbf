"""Time for what has a deadline of its own: other tests may keep the machine busy, and a late part is left out.

The deadlines themselves are tested by `unit/hooks/test_hook_main.py`, `integration/daemon/test_hook_routes.py` and
`integration/flows/test_context_deadlines.py`. Children of a warm process call the functions, before anything else.
"""

from types import ModuleType
from typing import Final

from tests.warm import run_program

RECALL_SECONDS: Final = 30.0
DAEMON: Final = "tests.patience:serve_patiently"
HOOKS: Final = "tests.patience:run_patient_hooks"
UNHURRIED_HOOKS: Final = "tests.patience:run_unhurried_hooks"
WITH_JOBS: Final = "tests.patience:serve_with_jobs"


def serve_patiently(*_: str) -> None:
    """A daemon that waits for every part of a context."""
    from commonplace.daemon.server import hook_routes
    from commonplace.mcp_server import memory_tools, server
    from commonplace.memory.context import Contexts

    _replace(hook_routes, PROMPT_SECONDS=RECALL_SECONDS, START_SECONDS=RECALL_SECONDS)
    for module in (memory_tools, server):
        _replace(module, RECALL_SECONDS=RECALL_SECONDS)
    for build in (Contexts.__call__, Contexts.start):
        assert build.__kwdefaults__
        assert build.__kwdefaults__["within"]
        build.__kwdefaults__["within"] = RECALL_SECONDS
    run_program()


def run_patient_hooks(*_: str) -> None:
    """The program, whose hooks wait nearly as long for the daemon as hosts wait for them."""
    from commonplace.hooks import main

    _replace(main, _SECONDS=dict.fromkeys(main._SECONDS, 4.0), _OTHER_SECONDS=4.0)
    run_program()


def run_unhurried_hooks(*_: str) -> None:
    """The program, whose hooks wait for the daemon as long as anything in a test."""
    from commonplace.hooks import main

    _replace(main, _SECONDS=dict.fromkeys(main._SECONDS, RECALL_SECONDS), _OTHER_SECONDS=RECALL_SECONDS)
    run_program()


def serve_with_jobs(*_: str) -> None:
    """A daemon that looks for due jobs at once and every second, not after a minute of quiet."""
    from commonplace.daemon import jobs, serve

    _replace(serve, _JOBS_FIRST=0.0, _JOBS_EVERY=1.0)
    _replace(jobs, _QUIET_SECONDS=0.0)
    run_program()


def _replace(module: ModuleType, **values: object) -> None:
    """Set what the module has already."""
    for name, value in values.items():
        assert hasattr(module, name), f"{module.__name__} has no {name}"
        setattr(module, name, value)
