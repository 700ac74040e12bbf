"""Load settings, each value with its origin; later layers win:

defaults < the vault's own file < the user's file < the user's file for that vault < environment < flags.

A layer is one of these sources as a flat table of dotted keys.
"""

import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, is_dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, get_type_hints

import platformdirs

from commonplace.client.paths import STATE_VARIABLE
from commonplace.errors import Refused, UsageError
from commonplace.settings.database_vaults import BACKEND, folder_for, folder_of_tenant, shown_vault, tenant_in
from commonplace.settings.registered_vaults import registered_vaults, registry_file
from commonplace.settings.schema import OPTIONS, Option, Settings, convert, did_you_mean, home_path

ENV_PREFIX = "COMMONPLACE_"
SETTINGS_FILE_VARIABLE = "COMMONPLACE_SETTINGS"
SHORT_VARIABLES = {
    "MEMORY_VAULT_PATH": "vault.root",  # set by agents of an earlier system; COMMONPLACE_VAULT wins over it
    "COMMONPLACE_VAULT": "vault.root",
    "COMMONPLACE_DATA": "data",
    "COMMONPLACE_USER": "user",
}
VAULT_FILE_STEM = ".commonplace"
USER_VAULTS_FOLDER = "vaults"
"""The folder in the user's settings folder that holds one settings file for each vault that has its own."""

LayerKind = Literal["call", "vault", "user", "user_vault"]

_WRITABLE = "safety.path_allowlist"
_NOT_FOR_ONE_VAULT = ("vault.root", "data")  # they say which vault it is, and where its data was put
_MAX_FILE_BYTES = 256 * 1024
_MAX_DEPTH = max(key.count(".") for key in OPTIONS)
_CURRENT_NAMES = {older: each.key for each in OPTIONS.values() for older in each.once_called}


@dataclass(frozen=True, slots=True)
class LoadedSettings:
    """The settings, and the origin of each value that is not a default."""

    settings: Settings
    origins: Mapping[str, str]

    def value(self, key: str) -> Any:
        """The value of a dotted key."""
        value: Any = self.settings
        for name in key.split("."):
            value = getattr(value, name)
        return value


@dataclass(frozen=True, slots=True)
class Layer:
    """The values that one source sets, by dotted key; `origins` names the file, variable or flag of each.

    `kind` is `call` for variables and flags; for files, whose file it is: the vault's, the user's, or the user's for
    one vault.
    """

    values: Mapping[str, object]
    origins: Mapping[str, str]
    kind: LayerKind = "call"


def load_settings(
    *,
    flags: Mapping[str, object] | None = None,
    environ: Mapping[str, str] | None = None,
    current: Path | None = None,
) -> LoadedSettings:
    """All settings. If no vault is named, it is the registered vault that contains the folder `current`, else the
    default one.

    Raises UsageError with the key and the most similar valid key, and Refused if the vault's own file sets an option
    that it may not set.
    """
    environ = os.environ if environ is None else environ
    own_file = user_settings_file(environ)
    is_there = os.path.lexists(own_file) or environ.get(SETTINGS_FILE_VARIABLE)
    own = [_file_layer(own_file, "user")] if is_there else []
    call = [_environment_layer(environ), _flag_layer(flags or {})]
    values, origins = _merge([*own, *call])
    if "vault.root" not in values and (found := _vault_unnamed(values, origins, current)):
        own.insert(0, found)
        values, origins = _merge([*own, *call])
    if root := values.get("vault.root"):
        values, origins = _merge([*_vault_layers(root, own), *call, *_database_layers(root)])
    settings = _fill(Settings, values, origins)
    return LoadedSettings(settings, origins)


def _vault_unnamed(values: Mapping[str, Any], origins: Mapping[str, str], current: Path | None) -> Layer | None:
    """The vault where none is named: that of the tenant if notes are in a database, else one on the list."""
    if values.get("vault.backend") == BACKEND and (tenant := values.get("postgresql.tenant")):
        folder, origin = folder_of_tenant(tenant), origins["postgresql.tenant"]
    elif listed := registered_vaults().vault_for(current):
        folder, origin = listed, str(registry_file())
    else:
        return None
    return Layer({"vault.root": str(folder)}, {"vault.root": origin})


def _database_layers(root: Path) -> list[Layer]:
    """What the name of a vault in a database decides, whatever is set elsewhere."""
    if not (tenant := tenant_in(root)):
        return []
    values = {"vault.backend": BACKEND, "postgresql.tenant": tenant}
    return [Layer(values, dict.fromkeys(values, shown_vault(root)))]


def _vault_layers(root: Path, own: list[Layer]) -> list[Layer]:
    """The layers of a vault's own file, of the user, and of the user's file for that vault."""
    inside, outside = vault_settings_file(root), user_vault_file(root)
    return [
        *([_file_layer(inside, "vault")] if inside else []),
        *own,
        *([_file_layer(outside, "user_vault")] if outside and os.path.lexists(outside) else []),
    ]


def checked_setting(key: str, value: object, *, file: Path, kind: LayerKind) -> tuple[str, Any]:
    """The current name of an option and the value as its type, if a file of that kind may set it.

    Raises UsageError and Refused as loading that file would.
    """
    values, _ = _merge([Layer({key: value}, {key: str(file)}, kind)])
    return next(iter(values.items()))


def user_settings_file(environ: Mapping[str, str] | None = None) -> Path:
    """The path of the user's own settings file, whether or not it exists. Raises UsageError if there are two."""
    environ = os.environ if environ is None else environ
    if path := environ.get(SETTINGS_FILE_VARIABLE):
        return _file_from_variable(path)
    folder = platformdirs.user_config_path("commonplace")
    return _find_file(folder, "settings") or folder / "settings.toml"


def user_vault_file(root: Path) -> Path | None:
    """The path of the user's own settings file for that vault, whether or not it exists; None if it is not registered.

    Raises UsageError if there are two, or if the list of vaults cannot be read.
    """
    name = registered_vaults().name_of(root)
    folder = platformdirs.user_config_path("commonplace") / USER_VAULTS_FOLDER
    return (_find_file(folder, name) or folder / f"{name}.toml") if name else None


def own_value(key: str, root: Path) -> object:
    """What the user's own file for that vault alone says; None if it says nothing. Raises as `load_settings`."""
    file = user_vault_file(root)
    return _file_layer(file, "user_vault").values.get(key) if file and os.path.lexists(file) else None


def user_settings_files() -> tuple[Path, ...]:
    """Every settings file of the user: their own, and those for one vault each. Raises UsageError if there are two."""
    folder = platformdirs.user_config_path("commonplace") / USER_VAULTS_FOLDER
    return user_settings_file(), *sorted(folder.glob("*.*"))


def _file_from_variable(path: str) -> Path:
    try:
        return home_path(path)
    except ValueError as error:
        hint = "Set the variable to the path of a settings file."
        raise UsageError(str(error), path=f"${SETTINGS_FILE_VARIABLE}", hint=hint) from error


def vault_settings_file(root: Path) -> Path | None:
    """The settings file in a vault, which is not trusted with every option; None if it has none. Raises UsageError."""
    return _find_file(root, VAULT_FILE_STEM) if root.is_dir() else None


def _find_file(folder: Path, stem: str) -> Path | None:
    """The settings file `stem.toml` or `stem.yaml` in a folder, or None. Raises UsageError if there are two."""
    files = [path for ending in ("toml", "yaml", "yml") if os.path.lexists(path := folder / f"{stem}.{ending}")]
    if len(files) > 1:
        names = ", ".join(path.name for path in files)
        raise UsageError(f"two settings files side by side: {names}", path=str(folder), hint="Keep one of them.")
    return files[0] if files else None


def _file_layer(path: Path, kind: LayerKind) -> Layer:
    """The values in a TOML or YAML file. Raises UsageError with the line if the file cannot be parsed."""
    values = dict(_flatten(_parse_file(path, follow_links=kind != "vault"), ""))
    return Layer(values, dict.fromkeys(values, str(path)), kind)


def _environment_layer(environ: Mapping[str, str]) -> Layer:
    """The values in variables: `COMMONPLACE_VAULT` and other short names, `COMMONPLACE_BLOCK__KEY` for all options."""
    values: dict[str, object] = {}
    origins: dict[str, str] = {}
    for name in [*SHORT_VARIABLES, *sorted(set(environ) - set(SHORT_VARIABLES))]:
        key = SHORT_VARIABLES.get(name) or _key_of_variable(name)
        if key and environ.get(name):
            values[key], origins[key] = environ[name], f"${name}"
    return Layer(values, origins)


def _flag_layer(flags: Mapping[str, object]) -> Layer:
    """The values of flags; a flag that is None was not given."""
    values = {key: value for key, value in flags.items() if value is not None}
    return Layer(values, dict.fromkeys(values, "flag"))


def _key_of_variable(name: str) -> str | None:
    if not name.startswith(ENV_PREFIX) or name in (SETTINGS_FILE_VARIABLE, STATE_VARIABLE):
        return None
    return name.removeprefix(ENV_PREFIX).lower().replace("__", ".")


def _parse_file(path: Path, *, follow_links: bool) -> dict[str, Any]:
    text = _read_file(path, follow_links=follow_links)
    return _parse_toml(text, path) if path.suffix == ".toml" else _parse_yaml(text, path)


def _parse_toml(text: str, path: Path) -> dict[str, Any]:
    import tomllib  # most people have no settings file

    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # a TOMLDecodeError, a number of thousands of digits
        raise UsageError(f"not valid TOML: {error}", path=str(path), hint="Correct that line.") from error


def _parse_yaml(text: str, path: Path) -> dict[str, Any]:
    from commonplace.notes.frontmatter import python_value  # with PyYAML, 20 ms to import
    from commonplace.notes.yaml_tree import parse_yaml

    tree = parse_yaml(text, first_line=1)
    if tree.defects:
        line = text.count("\n", 0, tree.defects[0].index) + 1
        message = f"line {line}: {tree.defects[0].message}"
        raise UsageError(message, path=str(path), hint="Correct that line.")
    table = python_value(tree.root) if tree.root else {}
    if not isinstance(table, dict):
        hint = "Start with a block such as `vault:`."
        raise UsageError("not a mapping of keys to values", path=str(path), hint=hint)
    return table


def _read_file(path: Path, *, follow_links: bool) -> str:
    if path.is_symlink() and not follow_links:
        message = "a settings file inside the vault must not be a symbolic link"
        raise Refused(message, path=str(path), hint="Replace the link with the file itself.")
    try:
        opened = os.open(path, os.O_RDONLY | os.O_NONBLOCK | (0 if follow_links else os.O_NOFOLLOW))
        with open(opened, "rb") as file:
            raw = file.read(_MAX_FILE_BYTES + 1) if stat.S_ISREG(os.fstat(opened).st_mode) else None
    except OSError as error:
        message = f"cannot be read: {error.strerror}"
        raise UsageError(message, path=str(path), hint="Check its permissions, or name another file.") from error
    if raw is None or len(raw) > _MAX_FILE_BYTES:
        message = "not a regular file" if raw is None else f"larger than {_MAX_FILE_BYTES} bytes"
        raise UsageError(message, path=str(path), hint="A settings file is a small text file.")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError("not UTF-8 text", path=str(path), hint="Save it as UTF-8.") from error


def _flatten(table: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, object]]:
    """The table's values by dotted key. A table nested deeper than any block is a value, so its key is unknown."""
    for name, value in table.items():
        key = f"{prefix}{name}"
        if isinstance(value, dict) and key.count(".") < _MAX_DEPTH:
            yield from _flatten(value, f"{key}.")
        elif value is not None or key in OPTIONS:  # an empty block sets nothing
            yield key, value


def _merge(layers: list[Layer]) -> tuple[dict[str, Any], dict[str, str]]:
    """Values and origins by current key; later layers win. Raises UsageError and Refused."""
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for layer in layers:
        seen: dict[str, str] = {}
        for key, value in layer.values.items():
            origin = layer.origins[key]
            target = _find_option(key, origin)
            if target.key in seen:
                message = f"{key} and {seen[target.key]} are the same setting"
                raise UsageError(message, path=origin, hint="Keep one of them.")
            _refuse_forbidden(target, layer.kind, origin)
            seen[target.key] = key
            values[target.key], origins[target.key] = _converted(value, target, key, origin), origin
            if layer.kind != "call":
                _refuse_relative_root(values, origin)
    return values, origins


def _refuse_relative_root(values: Mapping[str, Any], origin: str) -> None:
    """Raises UsageError: a settings file must name the same vault whatever the current folder is."""
    root = values.get("vault.root")
    if root is not None and not root.is_absolute():
        message = f"vault.root: {str(root)!r} is not an absolute path"
        raise UsageError(message, path=origin, hint="Start the path with / or ~.")


def _find_option(key: str, origin: str) -> Option:
    target = OPTIONS.get(_CURRENT_NAMES.get(key, key)) or OPTIONS.get(f"{key}.enabled")  # `chat: false` is short for it
    if target:
        return target
    suggestion = did_you_mean(key, [*OPTIONS, *_CURRENT_NAMES])
    if origin.startswith(f"${ENV_PREFIX}"):
        suggestion = suggestion or "; variables are COMMONPLACE_BLOCK__KEY"
    raise UsageError(
        f"no setting is called {key}{suggestion}", path=origin, hint="`commonplace settings keys` lists all settings."
    )


def _converted(value: object, target: Option, key: str, origin: str) -> Any:
    if target.key == "vault.root" and isinstance(value, str):
        value = folder_for(value) or value
    try:
        converted = convert(value, target)
    except ValueError as error:
        raise UsageError(f"{key}: {error}", path=origin, hint=target.doc) from error
    return _folders(converted, key, origin) if target.key == _WRITABLE and converted else converted


def _folders(folders: tuple[str, ...], key: str, origin: str) -> tuple[str, ...]:
    """The folders that programs may write to. Raises UsageError for one that is not inside a vault."""
    from commonplace.policy.new_vault import checked_folders  # most people never set them

    try:
        return checked_folders(folders)
    except UsageError as error:
        raise UsageError(f"{key}: {error.message}", path=origin, hint=error.hint) from error


def _refuse_forbidden(target: Option, kind: LayerKind, origin: str) -> None:
    """Raises Refused if a file of that kind may not set the option."""
    if kind == "vault" and not target.vault_may_set:
        raise Refused(
            f"{target.key} may not be set from inside a vault",
            path=origin,
            hint="Put it in your own file (`commonplace settings path`): vault content is not trusted with it.",
        )
    if kind == "user_vault" and target.key in _NOT_FOR_ONE_VAULT:
        raise Refused(
            f"{target.key} may not be set for one vault",
            path=origin,
            hint="Put it in your own settings file (`commonplace settings path`), which counts for all vaults.",
        )


@lru_cache(maxsize=256)
def _types_of(block: type) -> dict[str, Any]:
    """The type of each field; working it out for all blocks takes as long as everything else that opens a memory."""
    return get_type_hints(block)


def _fill(block: type, values: Mapping[str, Any], origins: Mapping[str, str], prefix: str = "") -> Any:
    """The block as a frozen value.

    Raises UsageError if an option is invalid or two contradict each other: the block raises ValueError(message, hint).
    """
    arguments: dict[str, Any] = {}
    for name, kind in _types_of(block).items():
        key = f"{prefix}{name}"
        if is_dataclass(kind) and isinstance(kind, type):
            arguments[name] = _fill(kind, values, origins, f"{key}.")
        elif key in values:
            arguments[name] = values[key]
    try:
        return block(**arguments)
    except ValueError as error:
        message, hint = error.args if len(error.args) > 1 else (str(error), "Change one of the two.")
        origin = next((origins[f"{prefix}{name}"] for name in arguments if f"{prefix}{name}" in origins), None)
        raise UsageError(f"{prefix.rstrip('.')}: {message}", path=origin, hint=hint) from error
