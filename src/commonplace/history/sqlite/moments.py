"""Times as they stand in the tables."""

from datetime import datetime

from commonplace.history.base import utc_second


def moment_text(when: datetime) -> str:
    """The moment as text such as 2026-03-01T09:12:44Z. Raises UsageError for a time without a zone."""
    return f"{utc_second(when).replace(tzinfo=None).isoformat()}Z"
