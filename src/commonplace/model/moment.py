"""Moments as text: in UTC, to the second, and so that their order is that of their text."""

from datetime import UTC, datetime
from typing import Final

_FORM: Final = "%Y-%m-%dT%H:%M:%SZ"


def moment_text(at: datetime) -> str:
    """The moment as `2026-03-01T09:12:44Z`."""
    return at.astimezone(UTC).strftime(_FORM)


def moment_in(text: str) -> datetime:
    """The moment that such a text names. Raises ValueError for any other text."""
    return datetime.strptime(text, _FORM).replace(tzinfo=UTC)
