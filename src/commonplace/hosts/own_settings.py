"""Changes one value in the person's own settings file, and leaves every other byte as it is."""

from pathlib import Path
from typing import Any

from commonplace.errors import UsageError
from commonplace.hosts.file_changes import FileChange, apply_change, read_file, resolve_file
from commonplace.hosts.jsonc import InvalidSyntax
from commonplace.hosts.toml_edits import put_table
from commonplace.settings.load import user_settings_file
from commonplace.settings.schema import OPTIONS

_MODE = 0o600


def save_setting(key: str, value: Any) -> Path:
    """Set an option, such as `embedding.provider`, in the person's own settings file; returns the file's path.

    The file is created if there is none, and an older name of the option in it is replaced.
    Raises UsageError if the file is not valid or not TOML, Refused if it is not a regular file of this user, Conflict.
    """
    path, (block, name) = user_settings_file(), key.split(".")
    names = {each.rpartition(".")[2] for each in (key, *OPTIONS[key].once_called)}
    if path.suffix != ".toml":
        hint = f"Put `{name}: {value}` into its block `{block}:` yourself."
        raise UsageError("only a TOML file can be changed by a command", path=str(path), hint=hint)
    file = resolve_file(path)
    before, mode = read_file(file)
    try:
        text = (before or b"").decode("utf-8")
        after = put_table(text, (block,), {name: value}, owned=frozenset(names)).text
    except (InvalidSyntax, UnicodeDecodeError) as error:
        raise UsageError(f"not valid TOML: {error}", path=str(path), hint="Correct the file.") from error
    apply_change(FileChange(file, before, after.encode(), mode or _MODE, mode))
    return path
