"""`commonplace settings`: show the settings, change them in the person's own files, and print an example of a file."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from typer.core import TyperCommand

from commonplace.cli.completion import setting_keys, setting_values
from commonplace.cli.invocation import Invocation, invocation_of, print_line, print_table, print_text, show_help
from commonplace.errors import CommonplaceError, UsageError
from commonplace.model.option import shown, value_text

if TYPE_CHECKING:
    from typer._click import Context

    from commonplace.settings.load import LoadedSettings

app = typer.Typer(
    help="Show and change the settings, and see where each value comes from.",
    callback=show_help,
    invoke_without_command=True,
    rich_markup_mode=None,
)

_NEGATIVE: Final = re.compile(r"-\.?[0-9].*")

_Key = Annotated[
    str,
    typer.Argument(
        metavar="KEY", help="A setting that `commonplace settings keys` lists.", autocompletion=setting_keys
    ),
]
_ForVault = Annotated[
    bool, typer.Option("--for-vault", help="For this vault only: in your own file for it, not inside the vault.")
]


@app.command("show")
def show_settings(
    context: typer.Context,
    key: Annotated[
        str,
        typer.Argument(metavar="[KEY]", help="Only this setting, or this block.", autocompletion=setting_keys),
    ] = "",
) -> None:
    """List every setting with its value and the file, variable or flag that set it.

    \b
    Examples:
      commonplace settings show
      commonplace settings show retrieval
      commonplace --set retrieval.default_k=5 settings show --json
    """
    from commonplace.settings.schema import OPTIONS

    invocation = invocation_of(context)
    loaded = invocation.settings()
    rows = [
        {"key": each.key, "value": shown(loaded.value(each.key)), "from": _origin(loaded, each.key), "doc": each.doc}
        for each in OPTIONS.values()
        if key in ("", each.key) or each.key.startswith(f"{key}.")
    ]
    if not rows:
        raise _unknown(key)

    def show() -> None:
        print_table(["key", "value", "from"], [(row["key"], value_text(row["value"]), row["from"]) for row in rows])

    invocation.answer({"settings": rows}, show)


@app.command("keys")
def list_keys(context: typer.Context) -> None:
    """List every setting with its default and its meaning.

    \b
    Example:
      commonplace settings keys
    """
    from commonplace.settings.schema import OPTIONS

    rows = [{"key": key, "default": option.default, "doc": option.doc} for key, option in OPTIONS.items()]
    table = [(option.key, value_text(option.default), option.doc) for option in OPTIONS.values()]
    invocation_of(context).answer({"settings": rows}, lambda: print_table(["key", "default", "meaning"], table))


class _NumberArguments(TyperCommand):
    """A command one of whose arguments may be a negative number, which is no option."""

    def parse_args(self, ctx: "Context", args: list[str]) -> list[str]:
        """Take `-1` as an argument, as if it came after `--`."""
        numbers = [word for word in args if _NEGATIVE.fullmatch(word)] if "--" not in args else []
        words = [word for word in args if word not in numbers]
        return super().parse_args(ctx, [*words, "--", *numbers] if numbers else args)


@app.command("set", cls=_NumberArguments)
def set_value(
    context: typer.Context,
    key: _Key,
    value: Annotated[
        str,
        typer.Argument(metavar="VALUE", help="The new value; a list is written a,b,c.", autocompletion=setting_values),
    ],
    for_vault: _ForVault = False,
) -> None:
    """Set a setting in your own settings file; says what it was before, and whether something else overrides it.

    \b
    Examples:
      commonplace settings set retrieval.default_k 5
      commonplace settings set safety.path_allowlist "Inbox, Projects" --for-vault
      commonplace settings set context.recall false
    """
    from commonplace.hosts.own_settings import own_file, save_setting
    from commonplace.settings.load import checked_setting

    invocation = invocation_of(context)
    vault = _vault_meant(invocation) if for_vault else None
    file, kind = own_file(vault)
    key, converted = checked_setting(key, value, file=file, kind=kind)
    _check_usable(invocation, key, converted)
    before = _value_before(invocation, key, trying=converted, file=file)
    save_setting(key, converted, vault=vault)

    def show() -> None:
        print_line(f"{key}: {value_text(before)} -> {value_text(converted)}")
        print_line(f"  in {file}")

    _answer(invocation, key, {"value": converted, "before": before, "file": str(file), "changed": True}, show)


@app.command("unset")
def unset_value(context: typer.Context, key: _Key, for_vault: _ForVault = False) -> None:
    """Remove a setting from your own settings file, so that its default counts again.

    \b
    Examples:
      commonplace settings unset retrieval.default_k
      commonplace settings unset safety.path_allowlist --for-vault
    """
    from commonplace.hosts.own_settings import remove_setting
    from commonplace.settings.schema import OPTIONS

    if key not in OPTIONS:
        raise _unknown(key)
    invocation = invocation_of(context)
    before = _value_before(invocation, key)
    file, is_changed = remove_setting(key, vault=_vault_meant(invocation) if for_vault else None)
    now = invocation.settings().value(key)

    def show() -> None:
        if is_changed:
            print_line(f"{key}: {value_text(before)} -> {value_text(now)}")
            print_line(f"  removed from {file}")
        else:
            print_line(f"{key} is not set in {file}; its value is {value_text(now)}")

    _answer(invocation, key, {"value": now, "before": before, "file": str(file), "changed": is_changed}, show)


@app.command("path")
def print_path(context: typer.Context) -> None:
    """Print the paths of the settings files: yours, yours for this vault, and the one inside the vault.

    Later ones in this order win: inside the vault, yours, yours for this vault.

    \b
    Example:
      commonplace settings path
    """
    from commonplace.settings.load import user_settings_file, user_vault_file, vault_settings_file

    invocation, file = invocation_of(context), user_settings_file()
    root = _vault_root(invocation)
    for_vault, inside = (user_vault_file(root), vault_settings_file(root)) if root else (None, None)
    files = {"yours": file, "yours for this vault": for_vault, "inside the vault": inside}

    def show() -> None:
        print_line(_file_text(file))
        for name, path in files.items():
            if path and path != file:
                invocation.inform(f"{name}: {_file_text(path)}")

    values = {"path": str(file), "exists": os.path.lexists(file), "for_vault": for_vault, "in_vault": inside}
    invocation.answer(values, show)


@app.command("example")
def print_example(context: typer.Context) -> None:
    """Print a settings file with every option, its meaning and its default, as comments to be uncommented.

    \b
    Examples:
      commonplace settings example
      commonplace settings example > ~/.config/commonplace/settings.toml
    """
    from commonplace.hosts.own_settings import example_file

    text = example_file()
    invocation_of(context).answer({"text": text}, lambda: print_text(text))


def _answer(invocation: Invocation, key: str, values: dict[str, Any], show: Callable[[], None]) -> None:
    """Print what was done, and which value counts now if that is another one."""
    loaded = invocation.settings()
    in_use, origin = loaded.value(key), _origin(loaded, key)

    def show_all() -> None:
        show()
        if in_use != values["value"]:
            who = "a flag of this call" if origin == "flag" else origin
            print_line(f"But {who} sets it to {value_text(in_use)}, and that counts.")
        if values["changed"]:
            _tell_daemon(invocation, key)

    told = {name: shown(value) for name, value in {**values, "in_use": in_use}.items()}
    invocation.answer({"key": key, **told, "set_by": origin}, show_all)


def _check_usable(invocation: Invocation, key: str, value: object) -> None:
    """Raise UsageError for a value with which no command would work: no such backend, or no such folder."""
    if key == "vault.backend":
        from commonplace.app.vaults import backends
        from commonplace.settings.schema import Settings, did_you_mean

        known = backends(Settings()).names()
        if value not in known:
            message = f"vault.backend: {value!r} is not one of {', '.join(known)}{did_you_mean(str(value), [*known])}"
            raise UsageError(message, hint="A package that brings another backend has to be installed first.")
    if key == "vault.root" and isinstance(value, Path):
        from commonplace.settings.database_vaults import tenant_in

        if not value.is_dir() and not tenant_in(value):
            hint = "`commonplace init FOLDER` makes a vault, and `commonplace vault use` selects the default one."
            raise UsageError(f"vault.root: there is no folder {str(value)!r}", path=str(value), hint=hint)
        _tell_default(invocation, value)


def _tell_default(invocation: Invocation, root: Path) -> None:
    """Say that this counts more than the list of vaults, if the list has another default."""
    from commonplace.settings.registered_vaults import registered_vaults

    default = registered_vaults().default
    if default and default != root.resolve():
        invocation.inform(
            f"from now on this counts in every folder, instead of the default vault {default} and the other vaults on "
            f"the list; `commonplace settings unset vault.root` and `commonplace vault use` select from the list"
        )


def _tell_daemon(invocation: Invocation, key: str) -> None:
    """Say when a running daemon takes up the new value."""
    from commonplace.daemon.service.state_files import running_daemon, user_daemon_files
    from commonplace.settings.schema import READ_AT_START

    if not running_daemon(user_daemon_files()):
        return
    if key.partition(".")[0] in READ_AT_START:
        invocation.inform(
            "the daemon reads this when it starts: `commonplace stop`, then `commonplace serve --background`"
        )
    else:
        invocation.inform("the running daemon takes it up within seconds")


def _value_before(invocation: Invocation, key: str, *, trying: object = None, file: Path | None = None) -> Any:
    """The value that counts now; None if the settings cannot be loaded, which the new value may mend.

    Raises UsageError if the value that is tried contradicts another setting.
    """
    try:
        before = invocation.settings().value(key)
    except CommonplaceError:
        return None
    if trying is not None:
        try:
            Invocation(flags={**invocation.flags, key: trying}).settings()
        except UsageError as error:
            raise UsageError(error.message, path=str(file), hint=error.hint) from error
    return before


def _vault_root(invocation: Invocation) -> Path | None:
    try:
        return invocation.settings().settings.vault.root
    except CommonplaceError:
        return None


def _vault_meant(invocation: Invocation) -> Path:
    root = _vault_root(invocation)
    if root is None:
        raise UsageError("no vault is named", hint="Add --vault PATH, or register one with `commonplace init`.")
    return root


def _unknown(key: str) -> UsageError:
    from commonplace.settings.schema import OPTIONS, did_you_mean

    hint = "`commonplace settings keys` lists all settings."
    return UsageError(f"no setting is called {key}{did_you_mean(key, [*OPTIONS])}", hint=hint)


def _origin(loaded: "LoadedSettings", key: str) -> str:
    return loaded.origins.get(key, "default")


def _file_text(file: Path) -> str:
    return f"{file}{'' if os.path.lexists(file) else '  (does not exist yet)'}"
