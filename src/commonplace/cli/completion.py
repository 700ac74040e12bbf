"""Values that the shell completes: closed sets of values, settings, and names that are known on this machine.

Each function is the `autocompletion` of an option or argument. None of them opens a vault, and none of them fails: a
value that cannot be looked up is not offered.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

import typer

from commonplace.errors import CommonplaceError

if TYPE_CHECKING:
    from commonplace.settings.schema import Settings


def offer(*values: str) -> Callable[[], list[str]]:
    """A function that offers these values."""
    return lambda: [*values]


def kinds() -> list[str]:
    """The kinds of entries, with the person's own."""
    from commonplace.model import KINDS

    settings = _settings()
    return [*KINDS, *(settings.facts.kinds if settings else ())]


def phases() -> list[str]:
    """The phases of work that the settings name."""
    settings = _settings()
    return [phase.partition(" ")[0] for phase in settings.context.phases] if settings else []


def models() -> list[tuple[str, str]]:
    """The encoder models, with what each is for."""
    from commonplace.app.encoders import model_summaries

    return [*model_summaries().items()]


def import_kinds() -> list[tuple[str, str]]:
    """What `import` reads, each with what it is."""
    from commonplace.memory.imports import import_kinds

    return [*import_kinds().items()]


def hosts() -> list[str]:
    """The hosts that `install` knows."""
    from commonplace.hosts.registry import HOSTS

    return [*HOSTS]


def vault_folders() -> list[str]:
    """The folders of the registered vaults."""
    return [str(folder) for folder, _ in _vaults()]


def vault_names() -> list[tuple[str, str]]:
    """The names of the registered vaults, with their folders."""
    return [(name, str(folder)) for folder, name in _vaults()]


def setting_keys() -> list[tuple[str, str]]:
    """The keys of all settings, with what each means."""
    from commonplace.settings.schema import OPTIONS

    return [(option.key, option.doc) for option in OPTIONS.values()]


def setting_values(ctx: typer.Context, incomplete: str) -> list[str]:
    """The values that the setting named before takes, if they are a closed set; of a list, the next one."""
    from commonplace.settings.schema import OPTIONS

    option = OPTIONS.get(str(ctx.params.get("key")))
    if option is None:
        return []
    if get_origin(option.type) is tuple:
        before, comma, _ = incomplete.rpartition(",")
        return [f"{before}{comma}{value}" for value in _values_of(get_args(option.type)[0])]
    return _values_of(option.type)


def _values_of(type_: Any) -> list[str]:
    if type_ is bool:
        return ["true", "false"]
    return list(get_args(type_)) if get_origin(type_) is Literal else []


def _vaults() -> "list[tuple[Any, str]]":
    from commonplace.settings.registered_vaults import registered_vaults

    try:
        return [(entry.root, entry.name) for entry in registered_vaults().entries]
    except CommonplaceError:
        return []


def _settings() -> "Settings | None":
    from commonplace.settings.load import load_settings

    try:
        return load_settings().settings
    except CommonplaceError:
        return None
