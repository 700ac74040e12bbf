"""Where settings come from: each layer is a flat table of dotted keys, with the name of its origin."""

import os
import stat
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from commonplace.client.places import STATE_VARIABLE
from commonplace.errors import Refused, UsageError
from commonplace.notes.frontmatter import plain
from commonplace.notes.yaml_tree import compose
from commonplace.settings.blocks import KNOBS

ENV_PREFIX = "COMMONPLACE_"
SETTINGS_FILE_VARIABLE = "COMMONPLACE_SETTINGS"
SHORT_VARIABLES = {
    "MEMORY_VAULT_PATH": "vault.root",  # the name that agents of an earlier system set; ours below wins over it
    "COMMONPLACE_VAULT": "vault.root",
    "COMMONPLACE_DATA": "data",
    "COMMONPLACE_USER": "user",
}
_LARGEST_FILE = 256 * 1024
_DEEPEST = max(key.count(".") for key in KNOBS)


@dataclass(frozen=True, slots=True)
class Layer:
    """Values that one place gives, by dotted key; `origins` names the file, variable or flag of each."""

    values: Mapping[str, object]
    origins: Mapping[str, str]
    from_file: bool = False
    from_vault: bool = False


def file_layer(path: Path, *, from_vault: bool = False) -> Layer:
    """What a TOML or YAML file sets. Raises UsageError with the line when it cannot be read as such."""
    values = dict(_flatten(_table_in(path, follow_links=not from_vault), ""))
    return Layer(values, dict.fromkeys(values, str(path)), from_file=True, from_vault=from_vault)


def environment_layer(environ: Mapping[str, str]) -> Layer:
    """What variables set: `COMMONPLACE_VAULT` and its like, and `COMMONPLACE_BLOCK__KEY` for any other knob."""
    values: dict[str, object] = {}
    origins: dict[str, str] = {}
    for name in [*SHORT_VARIABLES, *sorted(set(environ) - set(SHORT_VARIABLES))]:
        key = SHORT_VARIABLES.get(name) or _key_of_variable(name)
        if key and environ.get(name):
            values[key], origins[key] = environ[name], f"${name}"
    return Layer(values, origins)


def flag_layer(flags: Mapping[str, object]) -> Layer:
    """What the caller's flags set; a flag that was not given is None."""
    given = {key: value for key, value in flags.items() if value is not None}
    return Layer(given, dict.fromkeys(given, "flag"))


def find_file(folder: Path, stem: str) -> Path | None:
    """The settings file `stem.toml` or `stem.yaml` of a folder, if there is one. Raises UsageError for two."""
    found = [path for ending in ("toml", "yaml", "yml") if os.path.lexists(path := folder / f"{stem}.{ending}")]
    if len(found) > 1:
        raise UsageError(
            f"two settings files side by side: {', '.join(path.name for path in found)}",
            path=str(folder),
            hint="Keep one of them.",
        )
    return found[0] if found else None


def _key_of_variable(name: str) -> str | None:
    if not name.startswith(ENV_PREFIX) or name in (SETTINGS_FILE_VARIABLE, STATE_VARIABLE):
        return None
    return name.removeprefix(ENV_PREFIX).lower().replace("__", ".")


def _table_in(path: Path, *, follow_links: bool) -> dict[str, Any]:
    text = _text_in(path, follow_links=follow_links)
    if path.suffix == ".toml":
        try:
            return tomllib.loads(text)
        except (ValueError, RecursionError) as error:  # a TOMLDecodeError, a number of thousands of digits
            raise UsageError(f"not valid TOML: {error}", path=str(path), hint="Mend the file at that line.") from error
    tree = compose(text, first_line=1)
    if tree.defects:
        line = text.count("\n", 0, tree.defects[0].index) + 1
        message = f"line {line}: {tree.defects[0].message}"
        raise UsageError(message, path=str(path), hint="Mend the file at that line.")
    table = plain(tree.root) if tree.root else {}
    if not isinstance(table, dict):
        raise UsageError("not a set of keys with values", path=str(path), hint="Begin with a block such as `vault:`.")
    return table


def _text_in(path: Path, *, follow_links: bool) -> str:
    if path.is_symlink() and not follow_links:
        raise Refused(
            "a settings file inside the vault may not be a symbolic link",
            path=str(path),
            hint="Put the file itself there.",
        )
    try:
        opened = os.open(path, os.O_RDONLY | os.O_NONBLOCK | (0 if follow_links else os.O_NOFOLLOW))
        with open(opened, "rb") as file:
            raw = file.read(_LARGEST_FILE + 1) if stat.S_ISREG(os.fstat(opened).st_mode) else None
    except OSError as error:
        message = f"cannot be read: {error.strerror}"
        raise UsageError(message, path=str(path), hint="Look at its permissions, or name another file.") from error
    if raw is None or len(raw) > _LARGEST_FILE:
        message = "not a regular file" if raw is None else f"larger than {_LARGEST_FILE} bytes"
        raise UsageError(message, path=str(path), hint="A settings file is a small text file.")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError("not UTF-8 text", path=str(path), hint="Save it as UTF-8.") from error


def _flatten(table: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, object]]:
    """Dotted keys. Deeper than any block of ours, a table is a value, and its key unknown."""
    for name, value in table.items():
        key = f"{prefix}{name}"
        if isinstance(value, dict) and key.count(".") < _DEEPEST:
            yield from _flatten(value, f"{key}.")
        elif value is not None or key in KNOBS:  # an empty block sets nothing
            yield key, value
