"""What a person may set about where memory comes from."""

from dataclasses import dataclass, field
from typing import Literal

from commonplace.model import option


@dataclass(frozen=True, slots=True)
class VaultSourceOptions:
    """The block `sources.vault`."""

    enabled: bool = option(True, "Whether notes are indexed.")
    chunker: Literal["markdown_heading"] = option("markdown_heading", "How notes are cut into chunks.")
    ignore_globs: tuple[str, ...] = option(
        ("Templates/**", "**/.*"),
        "Paths that are not indexed, beside those of `vault.ignore_globs`.",
        vault_may_set=True,
    )
    rename_window_seconds: float = option(2.0, "How long a removed note may turn out to be a renamed one.", at_least=0)


@dataclass(frozen=True, slots=True)
class ChatSourceOptions:
    """The block `sources.chat`; `chat: false` is short for `enabled`."""

    enabled: bool = option(True, "Whether recorded conversations are indexed.")


@dataclass(frozen=True, slots=True)
class EpisodeSourceOptions:
    """The blocks `sources.tasks` and `sources.corrections`; `tasks: false` is short for `enabled`."""

    enabled: bool = option(False, "Whether this source is indexed.")


@dataclass(frozen=True, slots=True)
class SourcesOptions:
    """The block `sources`."""

    vault: VaultSourceOptions = field(default_factory=VaultSourceOptions)
    chat: ChatSourceOptions = field(default_factory=ChatSourceOptions)
    tasks: EpisodeSourceOptions = field(default_factory=EpisodeSourceOptions)
    corrections: EpisodeSourceOptions = field(default_factory=EpisodeSourceOptions)
