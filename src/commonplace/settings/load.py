"""Loading: defaults < the vault's own file < the person's file < environment < flags, each value with its origin."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, is_dataclass
from pathlib import Path
from typing import Any, get_type_hints

import platformdirs

from commonplace.errors import Refused, UsageError
from commonplace.settings.blocks import KNOBS, Knob, Settings
from commonplace.settings.fit import fit, home_path, nearest
from commonplace.settings.layers import (
    ENV_PREFIX,
    SETTINGS_FILE_VARIABLE,
    Layer,
    environment_layer,
    file_layer,
    find_file,
    flag_layer,
)
from commonplace.settings.registered import registered, registry_file

VAULT_FILE_STEM = ".commonplace"
_CURRENT_NAMES = {older: knob.key for knob in KNOBS.values() for older in knob.once_called}


@dataclass(frozen=True, slots=True)
class Loaded:
    """The settings, and the origin of each value that is not a default."""

    settings: Settings
    origins: Mapping[str, str]

    def value(self, key: str) -> Any:
        """What a dotted key is set to."""
        value: Any = self.settings
        for name in key.split("."):
            value = getattr(value, name)
        return value


def load_settings(
    *,
    flags: Mapping[str, object] | None = None,
    environ: Mapping[str, str] | None = None,
    current: Path | None = None,
) -> Loaded:
    """All settings. Raises UsageError naming the key and the nearest valid one, Refused for a vault's forbidden key.

    With no vault named, it is the registered one that holds the folder `current`, if that is given, else the default.
    """
    environ = os.environ if environ is None else environ
    own_file = person_file(environ)
    layers = [environment_layer(environ), flag_layer(flags or {})]
    if os.path.lexists(own_file) or environ.get(SETTINGS_FILE_VARIABLE):
        layers.insert(0, file_layer(own_file))
    values, origins = _merge(layers)
    if "vault.root" not in values and (meant := registered().meant(current)):
        layers.insert(0, Layer({"vault.root": str(meant)}, {"vault.root": str(registry_file())}))
        values, origins = _merge(layers)
    vault_file = _vault_file(values.get("vault.root"))
    if vault_file:
        values, origins = _merge([file_layer(vault_file, from_vault=True), *layers])
    settings = _fill(Settings, values, origins)
    return Loaded(settings, origins)


def person_file(environ: Mapping[str, str] | None = None) -> Path:
    """The file of the person's own settings, whether it is there or not."""
    environ = os.environ if environ is None else environ
    if named := environ.get(SETTINGS_FILE_VARIABLE):
        return _named_file(named)
    folder = platformdirs.user_config_path("commonplace")
    return find_file(folder, "settings") or folder / "settings.toml"


def _named_file(path: str) -> Path:
    try:
        return home_path(path)
    except ValueError as error:
        raise UsageError(str(error), path=f"${SETTINGS_FILE_VARIABLE}", hint="Name a settings file.") from error


def _vault_file(root: Path | None) -> Path | None:
    return find_file(root, VAULT_FILE_STEM) if root and root.is_dir() else None


def _merge(layers: list[Layer]) -> tuple[dict[str, Any], dict[str, str]]:
    """Later layers win."""
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for layer in layers:
        seen: dict[str, str] = {}
        for given, value in layer.values.items():
            origin = layer.origins[given]
            knob = _knob_named(given, origin)
            if knob.key in seen:
                message = f"{given} and {seen[knob.key]} are one setting, given twice"
                raise UsageError(message, path=origin, hint="Keep one of them.")
            if layer.from_vault and not knob.vault_may_set:
                raise _not_from_a_vault(knob, origin)
            seen[knob.key] = given
            values[knob.key], origins[knob.key] = _fit(value, knob, given, origin), origin
            if layer.from_file:
                _refuse_relative_root(values, origin)
    return values, origins


def _refuse_relative_root(values: Mapping[str, Any], origin: str) -> None:
    """A file means the same wherever it is read: the vault is never found through the current folder."""
    root = values.get("vault.root")
    if root is not None and not root.is_absolute():
        raise UsageError(f"vault.root: {str(root)!r} is not an absolute path", path=origin, hint="Begin with / or ~.")


def _knob_named(key: str, origin: str) -> Knob:
    knob = KNOBS.get(_CURRENT_NAMES.get(key, key)) or KNOBS.get(f"{key}.enabled")  # `chat: false` is short for it
    if knob:
        return knob
    suggestion = nearest(key, [*KNOBS, *_CURRENT_NAMES])
    if origin.startswith(f"${ENV_PREFIX}"):
        suggestion = suggestion or "; variables are COMMONPLACE_BLOCK__KEY"
    raise UsageError(
        f"no setting is called {key}{suggestion}", path=origin, hint="`commonplace settings keys` lists all settings."
    )


def _fit(value: object, knob: Knob, given: str, origin: str) -> Any:
    try:
        return fit(value, knob)
    except ValueError as error:
        raise UsageError(f"{given}: {error}", path=origin, hint=knob.doc) from error


def _not_from_a_vault(knob: Knob, origin: str) -> Refused:
    return Refused(
        f"{knob.key} may not be set from inside a vault",
        path=origin,
        hint="Vault content is not trusted with it. Put it in your own settings file: `commonplace settings path`.",
    )


def _fill(block: type, values: Mapping[str, Any], origins: Mapping[str, str], prefix: str = "") -> Any:
    """The block as a frozen value. A rule between two of its options that does not hold is a UsageError."""
    given: dict[str, Any] = {}
    for name, kind in get_type_hints(block).items():
        key = f"{prefix}{name}"
        if is_dataclass(kind) and isinstance(kind, type):
            given[name] = _fill(kind, values, origins, f"{key}.")
        elif key in values:
            given[name] = values[key]
    try:
        return block(**given)
    except ValueError as error:
        origin = next((origins[f"{prefix}{name}"] for name in given if f"{prefix}{name}" in origins), None)
        raise UsageError(f"{prefix.rstrip('.')}: {error}", path=origin, hint="Change one of the two.") from error
