"""The page of settings: values with their origin, no secrets, and changes of what is harmless alone."""

import os
import tomllib
from pathlib import Path
from unittest.mock import patch

import pytest
from playwright.sync_api import expect

from commonplace.settings.harmless import is_harmless, shown_value
from commonplace.settings.load import load_settings, user_settings_file
from commonplace.settings.schema import OPTIONS, READ_AT_START
from tests.integration.web_page.conftest import Site, Visit

RISKY = ("root", "path", "folder", "file", "url", "endpoint", "key", "port", "origin", "provider", "model", "command")


def own_file(site: Site) -> Path:
    """The settings file that the daemon of these tests writes."""
    with patch.dict(os.environ, site.daemon.environ, clear=True):
        return user_settings_file()


def value(site: Site, key: str) -> object:
    """The value that counts for that daemon."""
    with patch.dict(os.environ, site.daemon.environ, clear=True):
        return load_settings(flags={"vault.root": str(site.vault)}).value(key)


def test_only_numbers_switches_and_choices_without_danger_are_harmless() -> None:
    """Nothing that names a place or a program, says who may write, costs money, deletes, or is read at the start."""
    harmless = [option for option in OPTIONS.values() if is_harmless(option)]
    names = {option.key for option in harmless}

    assert {"context.budget", "context.notes", "learn.enabled", "upkeep.links.suggest"} <= names
    assert {each for each in names if any(word in each.split(".")[-1].split("_") for word in RISKY)} == set()
    assert {each for each in names if each.partition(".")[0] in (*READ_AT_START, "safety", "vault", "llm")} == set()
    assert {each for each in names if "retention" in each or "autonomy" in each} == set()
    assert {type(option.default) for option in harmless} <= {bool, int, float, str}


@pytest.mark.needs("chromium")
def test_a_harmless_setting_is_changed_and_taken_back(visit: Visit, site: Site) -> None:
    """It is in the person's own file, the message says when it counts, and Undo removes it again."""
    page = visit("/settings?q=context.dated_days")
    page.get_by_label("context.dated_days", exact=True).fill("5")
    page.get_by_role("button", name="Save context.dated_days").click()
    page.wait_for_selector(".flash")

    expect(page.locator(".flash")).to_contain_text("context.dated_days: 3 → 5. The daemon takes it up within seconds.")
    assert tomllib.loads(own_file(site).read_text())["context"]["dated_days"] == 5
    page.get_by_role("button", name="Undo").click()
    page.wait_for_selector(".flash:has-text('5 → 3')")
    same = site.post("/settings/unset", {"key": "context.dated_days"})
    assert value(site, "context.dated_days") == 3
    assert "dated_days" not in own_file(site).read_text()
    assert same.status == 303
    assert "context.dated_days is 3, as before." in site.get("/settings").body.decode()


@pytest.mark.parametrize(
    "key",
    ["llm.base_url", "vault.root", "safety.autonomy", "serve.other_users", "upkeep.retention.days", "llm.key_env"],
)
@pytest.mark.parametrize("path", ["/settings/set", "/settings/unset"])
def test_a_form_that_changes_another_setting_is_refused(site: Site, path: str, key: str) -> None:
    """Whoever forges it: nothing is written."""
    before = value(site, key)
    reply = site.post(path, {"key": key, "value": "http://evil.example"})

    assert reply.status == 403
    assert "cannot be changed on the page" in reply.body.decode()
    assert value(site, key) == before


@pytest.mark.parametrize(
    ("key", "wrong", "status"),
    [
        ("context.budget", "-1", 400),
        ("context.notes", "never", 400),
        ("learn.enabled", "perhaps", 400),
        ("no.such", "1", 404),
    ],
)
def test_a_value_that_the_file_could_not_have_is_refused(site: Site, key: str, wrong: str, status: int) -> None:
    """By the same rules, in the same words."""
    assert site.post("/settings/set", {"key": key, "value": wrong}).status == status


def test_every_setting_is_shown_with_its_meaning(site: Site) -> None:
    """What cannot be changed has no form; a filter by words leaves the others out."""
    text = site.get("/settings").body.decode()
    few = site.get("/settings?q=context.budget").body.decode()

    assert [key for key in OPTIONS if f'id="{key}"' not in text] == []
    assert 'value="safety.autonomy"' not in text
    assert 'id="context.budget"' in few
    assert 'id="learn.enabled"' not in few
    assert "No setting fits." in site.get("/settings?q=xyzzy").body.decode()


def test_secrets_in_settings_are_never_shown() -> None:
    """Neither in an address nor where the name of a variable belongs."""
    address = shown_value(OPTIONS["llm.base_url"], "https://ada:hunter2secret@models.example/v1?key=abcdef123456")
    key = shown_value(OPTIONS["llm.key_env"], "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789")

    assert address == "https://models.example/v1"
    assert "sk-proj" not in key
    assert shown_value(OPTIONS["llm.key_env"], "OPENAI_API_KEY") == "OPENAI_API_KEY"
