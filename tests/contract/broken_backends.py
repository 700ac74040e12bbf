"""Backends that are broken on purpose: each breaks one rule of the contract and keeps all others.

They show that every check can fail. A check without one here is an error in `test_storage_backend`.
"""

from tests.contract import (
    broken_changes,
    broken_derived_files,
    broken_histories,
    broken_reads,
    broken_results,
    broken_transactions,
    broken_watches,
)
from tests.contract.broken_store import BREAKAGES, Breakage

__all__ = [
    "BREAKAGES",
    "Breakage",
    "broken_changes",
    "broken_derived_files",
    "broken_histories",
    "broken_reads",
    "broken_results",
    "broken_transactions",
    "broken_watches",
]
