"""All settings as one value, and the flat table of what may be set."""

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any, get_type_hints

from commonplace.encoders.options import EmbeddingOptions
from commonplace.facts.options import FactsOptions
from commonplace.flows.options import SkillsOptions
from commonplace.model import option
from commonplace.policy.doors import ServeOptions
from commonplace.policy.options import SafetyOptions
from commonplace.recalling.context_options import ContextOptions
from commonplace.recalling.options import RetrievalOptions
from commonplace.sources.options import CaptureOptions, SourcesOptions
from commonplace.vault.options import VaultOptions


@dataclass(frozen=True, slots=True)
class Settings:
    """Every block, filled."""

    user: str = option("me", "Whose memory this is.")
    data: Path | None = option(None, "Where derived data is kept; never inside the vault.")
    vault: VaultOptions = field(default_factory=VaultOptions)
    safety: SafetyOptions = field(default_factory=SafetyOptions)
    embedding: EmbeddingOptions = field(default_factory=EmbeddingOptions)
    retrieval: RetrievalOptions = field(default_factory=RetrievalOptions)
    sources: SourcesOptions = field(default_factory=SourcesOptions)
    facts: FactsOptions = field(default_factory=FactsOptions)
    context: ContextOptions = field(default_factory=ContextOptions)
    serve: ServeOptions = field(default_factory=ServeOptions)
    capture: CaptureOptions = field(default_factory=CaptureOptions)
    skills: SkillsOptions = field(default_factory=SkillsOptions)


@dataclass(frozen=True, slots=True)
class Knob:
    """One thing that may be set: its dotted key, its type, and what its room says of it."""

    key: str
    type: Any
    default: Any
    doc: str
    at_least: float | None
    at_most: float | None
    once_called: tuple[str, ...]
    vault_may_set: bool


def _knobs_of(block: type, prefix: str) -> Iterator[Knob]:
    types = get_type_hints(block)
    for each in fields(block):
        key = f"{prefix}{each.name}"
        if is_dataclass(types[each.name]):
            yield from _knobs_of(types[each.name], f"{key}.")
            continue
        meta = dict(each.metadata)
        older = tuple(f"{prefix}{name}" for name in meta.pop("once_called"))
        yield Knob(key=key, type=types[each.name], default=each.default, once_called=older, **meta)


KNOBS: dict[str, Knob] = {knob.key: knob for knob in _knobs_of(Settings, "")}
