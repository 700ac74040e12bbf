"""Changes one value in the person's own settings files, and leaves every other byte as it is."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Literal, get_args, get_origin

from commonplace.errors import UsageError
from commonplace.hosts.file_changes import FileChange, apply_change, read_file, resolve_file
from commonplace.hosts.jsonc import InvalidSyntax, Keys
from commonplace.hosts.text_edits import UndoInfo, line_end_of
from commonplace.hosts.toml_edits import put_keys, remove_keys, remove_table, statements, table_at
from commonplace.settings.load import LayerKind, checked_setting, user_settings_file, user_vault_file
from commonplace.settings.schema import OPTIONS, Option

_MODE = 0o600
_TOP = {"into": "at", "from": "from"}


def save_setting(key: str, value: object, *, vault: Path | None = None) -> Path:
    """Set an option, such as `embedding.provider`, in the person's own settings file; returns the file's path.

    With `vault`, in the person's file for that registered vault. The file is created if there is none, and an older
    name of the option in it is replaced. Raises UsageError and Refused as loading the value would; UsageError if the
    file is not valid or not TOML, Refused if it is not a regular file of this user, Conflict.
    """
    file, kind = own_file(vault)
    key, converted = checked_setting(key, value, file=file, kind=kind)
    table, names = _names_of(OPTIONS[key])
    written = _as_toml(converted)
    _change_file(
        file,
        lambda text: put_keys(text, table, {names[0]: written}, owned=frozenset(names)),
        by_hand=f"Put `{names[0]}: {_json_text(written)}` {_place_in_yaml(table, 'into')} yourself.",
    )
    return file


def remove_setting(key: str, *, vault: Path | None = None) -> tuple[Path, bool]:
    """Remove an option from the person's own settings file; the file's path, and whether the option was there.

    With `vault`, from the person's file for that registered vault. Raises as `save_setting` does.
    """
    file, _ = own_file(vault)
    table, names = _names_of(OPTIONS[key])
    by_hand = f"Remove `{names[0]}` {_place_in_yaml(table, 'from')} yourself."
    return file, _change_file(file, lambda text: _without_keys(text, table, frozenset(names)), by_hand=by_hand)


def _without_keys(text: str, table: Keys, names: frozenset[str]) -> str:
    """The text without these keys, and without the header of their table if nothing is left below it."""
    rest = remove_keys(text, table, names)
    if rest == text or not table or table_at(rest, table) != {}:
        return rest
    header = next(each for each in statements(rest) if each.path == table)
    after = [each.start for each in statements(rest) if each.start > header.start]
    if rest[header.end : min(after, default=len(rest))].strip():  # comments
        return rest
    line_end = line_end_of(rest)
    gap = line_end if rest[: header.start].endswith(line_end * 2) else ""
    rest = remove_table(rest, table, UndoInfo(gap=gap, tail=line_end))
    return rest if header.start else rest.lstrip("\r\n")


def _place_in_yaml(table: Keys, word: str) -> str:
    """Where a key of that table is in a YAML file, after the word `into` or `from`."""
    return f"{word} its block `{'.'.join(table)}:`" if table else f"{_TOP[word]} the top level"


def own_file(vault: Path | None) -> tuple[Path, LayerKind]:
    """The person's own settings file, or the one for that vault. Raises UsageError if the vault is not registered."""
    if vault is None:
        return user_settings_file(), "user"
    if file := user_vault_file(vault):
        return file, "user_vault"
    hint = "`commonplace init` registers a vault; settings for one vault are kept by its name."
    raise UsageError("the vault is not registered", path=str(vault), hint=hint)


def _change_file(path: Path, edit: Callable[[str], str], *, by_hand: str) -> bool:
    """Change a TOML file; False if the edit leaves it as it is."""
    if path.suffix != ".toml":
        raise UsageError("only a TOML file can be changed by a command", path=str(path), hint=by_hand)
    file = resolve_file(path)
    before, mode = read_file(file)
    try:
        text = (before or b"").decode("utf-8")
        after = edit(text)
    except InvalidSyntax as error:
        message = f"line {error.line}: {error.message}"
        raise UsageError(message, path=str(path), hint="Correct that line by hand.") from error
    except UnicodeDecodeError as error:
        raise UsageError("not UTF-8 text", path=str(path), hint="Save it as UTF-8.") from error
    if after == text:
        return False
    apply_change(FileChange(file, before, after.encode(), mode or _MODE, mode))
    return True


def _names_of(option: Option) -> tuple[Keys, tuple[str, ...]]:
    """The table in which an option is written, and its name there, followed by its older names."""
    *table, name = option.key.split(".")
    return tuple(table), (name, *(older.rpartition(".")[2] for older in option.once_called))


def _as_toml(value: Any) -> Any:
    """The value in a type that TOML has."""
    return list(value) if isinstance(value, tuple) else str(value) if isinstance(value, Path) else value


def example_file() -> str:
    """A TOML settings file with every option, its meaning and its default, all of them as comments."""
    lines = [
        "# Settings of Commonplace. Every value below is the default; remove the `#` before a key to change it.",
        "# Save it where `commonplace settings path` says. `commonplace settings set KEY VALUE` changes one value.",
    ]
    block: Keys | None = None
    for option in OPTIONS.values():
        table, (name, *_) = _names_of(option)
        if table != block and table:
            lines += ["", f"[{'.'.join(table)}]"]
        block = table
        lines += ["", *(f"# {line}" for line in _explanation(option)), f"#{name} = {_example_value(option)}"]
    return "\n".join(lines) + "\n"


def _explanation(option: Option) -> list[str]:
    """What an option means, and what it may be."""
    lines = [option.doc]
    if choices := _choices(option.type):
        lines.append(f"One of: {', '.join(choices)}.")
    if option.default is None:
        lines.append("Not set by default; this is an example.")
    return lines


def _choices(type_: Any) -> tuple[str, ...]:
    kinds = (type_, *get_args(type_))
    return next((get_args(each) for each in kinds if get_origin(each) is Literal), ())


_EXAMPLES: Final = {"schedule": "30 3 * * *", "zone": "Europe/Berlin"}
"""Options whose value has a form of its own, by the last part of their key."""


def _example_value(option: Option) -> str:
    """The default, or for an option without one a value of its type."""
    if option.default is not None:
        return _json_text(_as_toml(option.default))
    if choices := _choices(option.type):
        return _json_text(choices[0])
    if example := _EXAMPLES.get(option.key.rpartition(".")[2]):
        return _json_text(example)
    kind = next(each for each in (*get_args(option.type), option.type) if each is not type(None))
    return _json_text({Path: "/absolute/path", str: "name"}.get(kind, option.at_least))


def _json_text(value: Any) -> str:
    """The value as JSON, which TOML and YAML read alike."""
    return json.dumps(value, ensure_ascii=False)
