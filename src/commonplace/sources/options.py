"""Settings of the sources of memory, and of capturing transcripts."""

from dataclasses import dataclass, field
from typing import Final

from commonplace.model import option

LONGEST_MESSAGE: Final = 20_000
"""Characters. Few people type as much; a pasted log may be much longer."""


@dataclass(frozen=True, slots=True)
class VaultSourceOptions:
    """The block `sources.vault`."""

    enabled: bool = option(True, "Whether notes are indexed.")
    ignore_globs: tuple[str, ...] = option(
        ("Templates/**", "**/.*"),
        "Paths that are not indexed, in addition to those of `vault.ignore_globs`.",
        vault_may_set=True,
    )
    rename_window_seconds: float = option(
        2.0, "How long to wait before a removed note counts as removed and not as renamed.", at_least=0
    )


@dataclass(frozen=True, slots=True)
class ChatSourceOptions:
    """The block `sources.chat`; `chat: false` is short for `enabled`."""

    enabled: bool = option(True, "Whether recorded conversations are indexed.")


@dataclass(frozen=True, slots=True)
class TaskSourceOptions:
    """The block `sources.tasks`; `tasks: false` is short for `enabled`."""

    enabled: bool = option(True, "Whether recorded tasks and their results are indexed.")


@dataclass(frozen=True, slots=True)
class CorrectionSourceOptions:
    """The block `sources.corrections`; `corrections: false` is short for `enabled`."""

    enabled: bool = option(True, "Whether what you corrected is indexed as a source of its own.")


@dataclass(frozen=True, slots=True)
class SourcesOptions:
    """The block `sources`."""

    vault: VaultSourceOptions = field(default_factory=VaultSourceOptions)
    chat: ChatSourceOptions = field(default_factory=ChatSourceOptions)
    tasks: TaskSourceOptions = field(default_factory=TaskSourceOptions)
    corrections: CorrectionSourceOptions = field(default_factory=CorrectionSourceOptions)
    isolated: tuple[str, ...] = option(
        (),
        "Programs and projects whose conversations are isolated: nothing is learned from them, no prompt is given "
        "anything of them, and only `search --source isolated` finds them.",
    )


@dataclass(frozen=True, slots=True)
class CaptureOptions:
    """The block `capture`."""

    enabled: bool = option(True, "Whether conversations with agents that have our hooks are recorded.")
    folders: tuple[str, ...] = option((), "Folders with transcripts, in addition to those of the agents.")
    max_message_chars: int = option(LONGEST_MESSAGE, "The longest message that is recorded whole.", at_least=1000)
