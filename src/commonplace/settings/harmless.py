"""Which settings may be changed on the page, and how: `is_harmless` alone decides.

Harmless are numbers, switches and choices about what is recalled, learned and kept in order. Not harmless is what names
a path, a command, a server, a key or a program, what says who may write where, what costs money, and what deletes: a
person changes those in a terminal (`commonplace settings set`), where nobody else can be.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, get_args, get_origin
from urllib.parse import urlsplit, urlunsplit

from commonplace.errors import CommonplaceError, NotFound, Refused
from commonplace.model.option import value_text
from commonplace.settings.load import (
    LoadedSettings,
    checked_setting,
    load_settings,
    user_settings_file,
    user_vault_file,
)
from commonplace.settings.schema import OPTIONS, Option, did_you_mean

HARMLESS_BLOCKS: Final = ("context", "learn", "retrieval", "upkeep", "skills")
_NOT_HARMLESS: Final = re.compile(
    r"upkeep\.retention\..*"  # forgets conversations for good
    r"|upkeep\.sleep(?:_channels)?\.retention_days"  # deletes notes
    r"|skills\..*\.autonomy_level"  # says where a program writes
)
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_BY_HAND: Final = "Change it in a terminal: `commonplace settings set KEY VALUE`."


@dataclass(frozen=True, slots=True)
class SettingsWriter:
    """What writes the person's own settings file: `save` sets an option in it, `remove` takes it out."""

    save: Callable[[str, object], object]
    remove: Callable[[str], object]


@dataclass(frozen=True, slots=True)
class SettingChange:
    """A setting before and after; `was_own` is what the person's own file said, None if it said nothing."""

    key: str
    before: str
    after: str
    was_own: str | None


@dataclass(frozen=True, slots=True)
class SettingsEditor:
    """Shows the settings of a vault as the running program has them, and changes the harmless ones for all vaults."""

    flags: Mapping[str, object]
    writer: SettingsWriter

    def load(self, vault: str) -> LoadedSettings:
        """The settings of that vault, each with its origin. Raises UsageError and Refused."""
        return load_settings(flags={**self.flags, "vault.root": vault})

    def save(self, key: str, text: str, *, vault: str) -> SettingChange:
        """Set a harmless option in the person's own file, for all vaults.

        Raises NotFound, Refused if it is not harmless or set elsewhere, and UsageError for a value that the settings
        file could not have either.
        """
        key, loaded = self._changeable(key, vault)
        file = user_settings_file()
        _, value = checked_setting(key, text, file=file, kind="user")
        load_settings(flags={**self.flags, "vault.root": vault, key: value})  # raises if it contradicts another one
        self.writer.save(key, value)
        return self._change(key, loaded, vault)

    def remove(self, key: str, *, vault: str) -> SettingChange:
        """Take a harmless option out of the person's own file, so that its default counts. Raises as `save`."""
        key, loaded = self._changeable(key, vault)
        self.writer.remove(key)
        return self._change(key, loaded, vault)

    def switches(self, vault: str) -> dict[str, bool]:
        """Every switch that can be changed here now, and whether it is on."""
        loaded = self.load(vault)
        keys = [option.key for option in OPTIONS.values() if option.type is bool and is_harmless(option)]
        return {key: loaded.value(key) for key in keys if not set_elsewhere(loaded.origins.get(key, ""), vault)}

    def _changeable(self, key: str, vault: str) -> tuple[str, LoadedSettings]:
        option = OPTIONS.get(key)
        if option is None:
            hint = "`commonplace settings keys` lists all settings."
            raise NotFound(f"no setting is called {key}{did_you_mean(key, [*OPTIONS])}", hint=hint)
        if not is_harmless(option):
            raise Refused(f"{key} cannot be changed on the page", hint=_BY_HAND)
        loaded = self.load(vault)
        if elsewhere := set_elsewhere(loaded.origins.get(key, ""), vault):
            raise Refused(f"{key} is set by {elsewhere}, and that counts more than your file", hint="Change it there.")
        return key, loaded

    def _change(self, key: str, before: LoadedSettings, vault: str) -> SettingChange:
        is_own = before.origins.get(key) == str(user_settings_file())
        old, new = value_text(before.value(key)), value_text(self.load(vault).value(key))
        return SettingChange(key, old, new, old if is_own else None)


def is_harmless(option: Option) -> bool:
    """True if the page may change the option: the one place that decides it."""
    is_simple = option.type in (bool, int, float) or get_origin(option.type) is Literal
    in_block = option.key.partition(".")[0] in HARMLESS_BLOCKS
    return is_simple and in_block and not _NOT_HARMLESS.fullmatch(option.key)


def choices_of(option: Option) -> tuple[str, ...]:
    """What a switch or a choice may be; nothing for a number."""
    if option.type is bool:
        return "true", "false"
    return get_args(option.type) if get_origin(option.type) is Literal else ()


def set_elsewhere(origin: str, vault: str) -> str:
    """The variable, flag or file that sets an option and wins over the person's own file; empty if none does."""
    if origin == "flag":
        return "a flag of `commonplace serve`"
    if origin.startswith("$"):
        return f"the variable {origin}"
    try:
        for_vault = user_vault_file(Path(vault))
    except CommonplaceError:
        for_vault = None
    return f"your file for this vault, {origin}" if for_vault and origin == str(for_vault) else ""


def shown_value(option: Option, value: Any) -> str:
    """The value as people write it, without any secret that somebody put there."""
    from commonplace.screening.secrets import redact

    text = value_text(value)
    if value is not None and option.key.endswith("key_env") and not _VARIABLE.fullmatch(text):
        return "(hidden: not the name of a variable)"
    return redact([_without_login(text) if "://" in text else text])[0]


def _without_login(text: str) -> str:
    """An address without the name, the password and the parameters in it."""
    try:
        parts = urlsplit(text)
        host = parts.netloc.rpartition("@")[2]
    except ValueError:
        return "(hidden: not an address)"
    return urlunsplit((parts.scheme, host, parts.path, "", ""))
