"""What a person may set about where memory comes from."""

from dataclasses import dataclass, field
from typing import Final, Literal

from commonplace.model import option

LONGEST_MESSAGE: Final = 20_000
"""Characters. Few people type as much; a log that was pasted in may be much longer."""


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


@dataclass(frozen=True, slots=True)
class CaptureOptions:
    """The block `capture`."""

    enabled: bool = option(True, "Whether what is said in agents that have our hooks is recorded.")
    folders: tuple[str, ...] = option((), "Folders with transcripts, beside those that the agents keep them in.")
    max_message_chars: int = option(LONGEST_MESSAGE, "The longest message that is kept whole.", at_least=1000)
