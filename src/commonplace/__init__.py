"""Commonplace: a memory for AI agents, kept in a Markdown vault that a person owns.

    from commonplace import open_memory

    with open_memory("~/Notes") as memory:
        print(memory.notes.read("Projects/Garden.md").title)

The names below are loaded when they are first used, so that `import commonplace` costs next to nothing.
"""

TYPE_CHECKING = False  # as `typing` has it, which takes longer to load than the rest of a hook takes to run
if TYPE_CHECKING:
    from typing import Any

    from commonplace.app import open_memory
    from commonplace.errors import (
        CommonplaceError,
        Conflict,
        IndexDamaged,
        NotFound,
        ProviderFailed,
        Refused,
        UsageError,
        VaultUnavailable,
    )
    from commonplace.memory import Memory
    from commonplace.model import (
        Actor,
        Answer,
        Chain,
        Changed,
        Context,
        EntryResult,
        Erasure,
        Fact,
        FactSnapshot,
        Hit,
        Link,
        Message,
        Note,
        Problem,
        ResolvedLink,
        Section,
        Stat,
        Terms,
        Thread,
        Topic,
    )
    from commonplace.model.request import NewEntry, NewFact, SearchRequest

    __version__: str

DISTRIBUTION = "commonplace-memory"
"""The name on the package index."""

_HOMES = {
    "open_memory": "app",
    "Memory": "memory",
    **dict.fromkeys(("NewEntry", "NewFact", "SearchRequest"), "model.request"),
    **dict.fromkeys(
        (
            "Actor",
            "Answer",
            "Chain",
            "Changed",
            "Context",
            "EntryResult",
            "Erasure",
            "Fact",
            "FactSnapshot",
            "Hit",
            "Link",
            "Message",
            "Note",
            "Problem",
            "ResolvedLink",
            "Section",
            "Stat",
            "Terms",
            "Thread",
            "Topic",
        ),
        "model",
    ),
    **dict.fromkeys(
        (
            "CommonplaceError",
            "Conflict",
            "IndexDamaged",
            "NotFound",
            "ProviderFailed",
            "Refused",
            "UsageError",
            "VaultUnavailable",
        ),
        "errors",
    ),
}

__all__ = [
    "Actor",
    "Answer",
    "Chain",
    "Changed",
    "CommonplaceError",
    "Conflict",
    "Context",
    "EntryResult",
    "Erasure",
    "Fact",
    "FactSnapshot",
    "Hit",
    "IndexDamaged",
    "Link",
    "Memory",
    "Message",
    "NewEntry",
    "NewFact",
    "NotFound",
    "Note",
    "Problem",
    "ProviderFailed",
    "Refused",
    "ResolvedLink",
    "SearchRequest",
    "Section",
    "Stat",
    "Terms",
    "Thread",
    "Topic",
    "UsageError",
    "VaultUnavailable",
    "open_memory",
]


def __getattr__(name: str) -> "Any":
    if name == "__version__":
        from importlib.metadata import version

        return version(DISTRIBUTION)
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"module 'commonplace' has no attribute {name!r}")
    return getattr(import_module(f"commonplace.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
