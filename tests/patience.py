"""Time for what has a deadline of its own: other tests may keep the machine busy, and a late part is left out.

The deadlines themselves are tested by `tests/e2e/test_hooks.py`, `tests/integration/flows/test_context_build.py` and
`tests/integration/daemon/test_hook_routes.py`.
"""

from typing import Final

RECALL_SECONDS: Final = 30.0

DAEMON: Final = "; ".join(
    (
        "from commonplace.daemon.server import hook_routes",
        "from commonplace.mcp_server import memory_tools, server",
        "from commonplace.memory.context import Contexts",
        f"hook_routes.PROMPT_SECONDS = hook_routes.START_SECONDS = {RECALL_SECONDS}",
        f"memory_tools.RECALL_SECONDS = server.RECALL_SECONDS = {RECALL_SECONDS}",
        f"Contexts.__call__.__kwdefaults__['within'] = {RECALL_SECONDS}",
        f"Contexts.start.__kwdefaults__['within'] = {RECALL_SECONDS}",
        "from commonplace.__main__ import main",
        "main()",
    )
)
"""A program like `python -m commonplace` whose daemon waits for every part of a context."""

HOOKS: Final = "; ".join(
    (
        "from commonplace.hooks import main",
        "main._SECONDS = dict.fromkeys(main._SECONDS, 4.0)",
        "main._OTHER_SECONDS = 2.0",
        "from commonplace.__main__ import main",
        "main()",
    )
)
"""A program like `python -m commonplace` whose hooks wait nearly as long for the daemon as hosts wait for them."""
