"""How a room declares one of its settings: the default, and what `settings` must know to fill it; values as text."""

import re
from dataclasses import field
from typing import Any, Final

_PASSWORD: Final = re.compile(r"(://[^/\s:@]*:)\S*@|(password=)[^&\s]+", re.IGNORECASE)


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


def shown(value: Any) -> Any:
    """A setting's value to print: without the password, if it is an address that has one."""
    return _PASSWORD.sub(_hidden, value) if isinstance(value, str) else value


def _hidden(match: re.Match[str]) -> str:
    return f"{match[1]}(hidden)@" if match[1] else f"{match[2]}(hidden)"


def value_text(value: object) -> str:
    """A setting's value, as people write it; a password in it is hidden."""
    value = shown(value)
    if isinstance(value, tuple):
        return ", ".join(value) or "(none)"
    if isinstance(value, bool):
        return "true" if value else "false"
    return "(not set)" if value is None else str(value)
