"""The tables of a history and their columns, in an order in which rows can be added.

Left out is what a database has for itself: how much of each conversation file `history.db` has, and the numbers of
messages, which are found by thread and turn.
"""

from collections.abc import Mapping
from typing import Final

TABLES: Final[Mapping[str, tuple[str, ...]]] = {
    name: tuple(columns.split())
    for name, columns in {
        "commits": "number hash at",
        "audit": "number mutation at verb path actor origin reason destination before after commit_number in_digest"
        " person",
        "grants": "token_hash path expires",
        "unfinished_erasures": "path former entry begun",
        "history_losses": "number at said remedy restored",
        "invocation_batches": "number at task_type model_alias version duration_ms tokens cost",
        "invocation_log": "number batch input_hash",
        "model_states": "identity failures reason said until at",
        "conversation_threads": "number id interface source_id title trust started updated recorded count digest closed"
        " project captured kind parent memory",
        "conversation_messages": "thread turn identity role author at source_id text",
        "capture_cursors": "session offset tail file",
        "erased_conversations": "mark",
        "fact_uses": "fact day times",
        "topic_locks": "conversation topics at",
        "context_states": "number conversation given prompts missed at",
        "context_log": "number at origin conversation prompt chars silence pieces",
        "learning_sources": "source turns stamp paragraphs failures reason retry_at is_parked",
        "learning_batches": "number source at extractor after until summary details",
        "learned_items": "number batch at turn text quote candidate outcome reason fact old",
        "job_leases": "job owner boot process until",
        "job_states": "job state since failures reason retry_at is_parked",
        "job_runs": "number job began outcome ended said planned left_over seconds",
        "job_steps": "number run action subject said outcome in_commit review reason",
        "job_notices": "key said at",
        "calendar_events": "calendar id uid title begins ends all_day zone status attendees organizer location"
        " description updated sequence removed",
        "calendar_states": "calendar source mark tried read until failures reason",
        "calendar_resources": "calendar href etag packed",
    }.items()
}


def postgresql_name(table: str) -> str:
    """The name of a table in PostgreSQL, where other rooms have tables, too."""
    return table if table.startswith("history_") else f"history_{table}"
