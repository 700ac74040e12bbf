"""What `git` may never do on our behalf, whatever a repository, a person or a caller has configured.

Our calls run no hook, no signing program, no fsmonitor, no pager and no network transport, and ask nothing.
Variables that a caller's own git set for its hook do not divert us.
"""

import os
from typing import Final

_KEPT_VARIABLES: Final = frozenset(
    {
        "GIT_CEILING_DIRECTORIES",
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_NOSYSTEM",
        "GIT_CONFIG_SYSTEM",
        "GIT_DISCOVERY_ACROSS_FILESYSTEM",
        "GIT_EXEC_PATH",
    }
)
SETTINGS: Final = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.quotepath=off",
    "core.safecrlf=false",
    "commit.gpgsign=false",
    "maintenance.auto=false",
)
"""What every call is made with."""


def environment() -> dict[str, str]:
    """The variables that every call is made with."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name in _KEPT_VARIABLES}
    return ours | {
        "LC_ALL": "C",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_ALLOW_PROTOCOL": "",  # no transport at all: an object missing from a partial clone is not fetched
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ASKPASS": "true",
        "GIT_EDITOR": "true",
    }
