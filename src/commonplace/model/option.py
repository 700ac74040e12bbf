"""How a room declares one of its settings: the default, and what `settings` must know to fill it."""

from dataclasses import field
from typing import Any


def option(
    default: Any,
    doc: str,
    *,
    at_least: float | None = None,
    at_most: float | None = None,
    once_called: tuple[str, ...] = (),
    vault_may_set: bool = False,
) -> Any:
    """A dataclass field with its documentation, range, older names, and whether a file in a vault may set it."""
    return field(
        default=default,
        metadata={
            "doc": doc,
            "at_least": at_least,
            "at_most": at_most,
            "once_called": once_called,
            "vault_may_set": vault_may_set,
        },
    )
