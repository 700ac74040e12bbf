"""Puts the parts together: the only room that picks implementations.

encoders       the encoder that the settings name, and its model files
models         the language model of each task, as the settings name it
histories      the history of a vault, copies of it, and locks between machines
index_folders  folders of indexes that are made and removed: of the past, and for one evaluation
registration   vaults on this machine: making, adopting, recognising, moving and removing them
stores         the stores of a vault, the index side opened at first use; the save lock
vaults         storage backends, data folders, the sample vault
vault_transfer vaults in a database to folders under git, and back
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from commonplace.app.encoders import MakeEncoders, install_model, make_encoders, model_statuses, require_model
from commonplace.app.stores import open_stores
from commonplace.app.vaults import backends, copy_sample, put_under_git
from commonplace.errors import UsageError
from commonplace.flows.memory.amend import finish_erasures
from commonplace.flows.stores import Session
from commonplace.memory import Memory
from commonplace.model import ACTOR_KINDS, Actor, ActorKind
from commonplace.settings.load import load_settings
from commonplace.settings.schema import Settings

_now = partial(datetime.now, UTC)


def open_memory(
    vault: str | Path | None = None,
    *,
    actor: ActorKind = "person",
    settings: Mapping[str, object] | None = None,
) -> Memory:
    """The memory of a vault, named by its folder or else by the settings.

    `actor` is who acts: a program that acts for an agent says so, and policy treats it as one.
    `settings` are dotted keys that override files and environment, such as `{"retrieval.default_k": 5}`.
    Raises UsageError for an unknown actor, a wrong setting or if no vault is named, VaultUnavailable if it cannot be
    opened.
    """
    if actor not in ACTOR_KINDS:
        raise UsageError(f"no actor is called {actor!r}", hint=f"Actors: {', '.join(ACTOR_KINDS)}.")
    flags = dict(settings or {})
    if vault is not None:
        flags["vault.root"] = str(vault)
    return open_with(load_settings(flags=flags).settings, actor=Actor(actor, "library"))


def open_with(
    settings: Settings,
    *,
    actor: Actor,
    clock: Callable[[], datetime] = _now,
    is_patient: bool = True,
    encoders: MakeEncoders = make_encoders,
) -> Memory:
    """The memory that these settings describe. Raises as `open_memory` does.

    One that is not `is_patient` searches by words while the encoder is still loading. `encoders` finds the encoder
    for the settings: several memories may share one. An erasure that a crash has cut off is finished first.
    """
    stores = open_stores(settings, clock=clock, waits_for_encoder=is_patient, encoders=encoders)
    session = Session(stores, actor, clock)
    finish_erasures(session)
    return Memory(session, settings.upkeep, settings.skills)


__all__ = [
    "backends",
    "copy_sample",
    "install_model",
    "model_statuses",
    "open_memory",
    "open_with",
    "put_under_git",
    "require_model",
]
