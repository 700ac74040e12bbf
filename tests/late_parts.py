"""A context of which one part is late, on a machine of any speed."""

import threading
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from commonplace.flows.context import build
from commonplace.flows.context.build import GatherResult, gather


def make_late(name: str, monkeypatch: pytest.MonkeyPatch, *, until: threading.Event) -> None:
    """Until the event, the deadline of a context passes when all parts but this one are ready; it has begun, too."""

    def gathered(parts: Mapping[str, Callable[[], Any]], *, within: float | None) -> GatherResult[Any]:
        if until.is_set():
            return gather(parts, within=within)
        others = gather({each: part for each, part in parts.items() if each != name}, within=None)
        late = gather({name: parts[name]}, within=0.0)
        return GatherResult({**others.ready, **late.ready}, late.late, {**others.failed, **late.failed})

    monkeypatch.setattr(build, "gather", gathered)
