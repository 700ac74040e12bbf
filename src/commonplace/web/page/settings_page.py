"""The page of settings: each value with its origin and its meaning; those that are harmless can be changed."""

from dataclasses import dataclass
from itertools import groupby
from typing import Final

from fastapi import APIRouter, Request, Response

from commonplace.settings.harmless import SettingChange, choices_of, is_harmless, set_elsewhere, shown_value
from commonplace.settings.load import LoadedSettings, user_settings_file, vault_settings_file
from commonplace.settings.schema import OPTIONS, READ_AT_START, Option
from commonplace.web.page.view import NavigationEntry, PageForm, PageMemory, page_host, redirect, render

ENTRY: Final = NavigationEntry("Settings", "/settings", group="run", key="i")
router = APIRouter()


@dataclass(frozen=True, slots=True)
class SettingRow:
    """A setting as the page shows it; `fixed_by` says what sets it and cannot be changed here."""

    option: Option
    value: str
    default: str
    origin: str
    choices: tuple[str, ...]
    is_editable: bool
    is_own: bool
    fixed_by: str
    needs_restart: bool


@router.get("/settings")
def show_settings(request: Request, memory: PageMemory, q: str = "", only: str = "") -> Response:
    """Every setting, or those whose key or meaning has these words; `only` is `changed` or `editable`."""
    vault = memory.conversations.vault_folder
    loaded = page_host(request).settings.load(vault)
    words = q.casefold().split()
    rows = [_row(option, loaded, vault) for option in OPTIONS.values()]
    rows = [each for each in rows if _fits(each, words, only)]
    blocks = [(name, [*found]) for name, found in groupby(rows, key=lambda each: each.option.key.partition(".")[0])]
    return render(
        request,
        "settings.html",
        title="Settings",
        blocks=blocks,
        chosen={"q": q, "only": only},
        is_open=bool(words or only),
        file=str(user_settings_file()),
        inside=vault_settings_file(loaded.value("vault.root")),
    )


@router.post("/settings/set")
def set_value(request: Request, memory: PageMemory, form: PageForm) -> Response:
    """Change a harmless setting in the person's own file."""
    vault = memory.conversations.vault_folder
    change = page_host(request).settings.save(form.required("key"), form.required("value"), vault=vault)
    return _done(request, change, form.text("back", "/settings"))


@router.post("/settings/unset")
def unset_value(request: Request, memory: PageMemory, form: PageForm) -> Response:
    """Take a harmless setting out of the person's own file, so that its default counts."""
    vault = memory.conversations.vault_folder
    change = page_host(request).settings.remove(form.required("key"), vault=vault)
    return _done(request, change, form.text("back", "/settings"))


def _done(request: Request, change: SettingChange, back: str) -> Response:
    """Go back, and say what it was and when it counts; Undo brings back what the file said before."""
    if change.before == change.after:
        return redirect(request, back, f"{change.key} is {change.after}, as before.")
    said = f"{change.key}: {change.before} → {change.after}. The daemon takes it up within seconds."
    fields = {"key": change.key, "back": back}
    if change.was_own is None:
        return redirect(request, back, said, undo_form=("/settings/unset", fields))
    return redirect(request, back, said, undo_form=("/settings/set", {**fields, "value": change.was_own}))


def _row(option: Option, loaded: LoadedSettings, vault: str) -> SettingRow:
    origin = loaded.origins.get(option.key, "")
    fixed_by = set_elsewhere(origin, vault)
    return SettingRow(
        option=option,
        value=shown_value(option, loaded.value(option.key)),
        default=shown_value(option, option.default),
        origin=origin or "default",
        choices=choices_of(option),
        is_editable=is_harmless(option) and not fixed_by,
        is_own=origin == str(user_settings_file()),
        fixed_by=fixed_by,
        needs_restart=option.key.partition(".")[0] in READ_AT_START,
    )


def _fits(row: SettingRow, words: list[str], only: str) -> bool:
    text = f"{row.option.key} {row.option.doc}".casefold()
    if only == "changed" and row.origin == "default":
        return False
    if only == "editable" and not row.is_editable:
        return False
    return all(word in text for word in words)
