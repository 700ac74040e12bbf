"""Changing settings from the command line: what is written where, and what counts."""

import json
import tomllib
from pathlib import Path

import pytest

from commonplace.settings.load import load_settings, user_settings_file, user_vault_file
from commonplace.settings.registered_vaults import register_vault
from commonplace.settings.schema import OPTIONS
from tests.command_line import Run, answer


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """A registered vault."""
    (tmp_path / "vault").mkdir()
    return register_vault(tmp_path / "vault").root


def test_a_setting_is_set_and_removed_again(run: Run) -> None:
    """The answer has the file, the value before and the value now; other settings stay."""
    run("settings", "set", "user", "robin")
    done = answer(run("settings", "set", "retrieval.default_k", "5", "--json"))
    written = user_settings_file().read_text()
    back = run("settings", "unset", "retrieval.default_k")

    assert (done["before"], done["value"], done["in_use"]) == (8, 5, 5)
    assert done["file"] == done["set_by"] == str(user_settings_file())
    assert tomllib.loads(written) == {"user": "robin", "retrieval": {"default_k": 5}}
    assert back.stdout == f"retrieval.default_k: 5 -> 8\n  removed from {user_settings_file()}\n"
    assert load_settings(environ={}).origins.keys() & {"user", "retrieval.default_k"} == {"user"}
    assert "is not set in" in run("settings", "unset", "retrieval.default_k").stdout


@pytest.mark.parametrize(
    ("key", "value", "loaded"),
    [
        ("safety.path_allowlist", "Inbox, My notes", ("Inbox", "My notes")),
        ("safety.path_allowlist", '["Inbox", "A, B"]', ("Inbox", "A, B")),
        ("vault.backend", "device-local", "device-local"),
        ("facts.staged_trusts", "read,told", ("read", "told")),
        ("facts.kinds", "", ()),
        ("sources.chat.enabled", "off", False),
        ("embedding.provider", "none", "none"),
        ("vault.root", "~/Notes", Path("~/Notes").expanduser()),
        ("retrieval.min_score", "0.4", 0.4),
        ("retrieval.top_k", "7", 7),
    ],
)
def test_every_type_of_value_can_be_set(run: Run, key: str, value: str, loaded: object) -> None:
    """A list is written with commas, a folder may begin with ~, and an older name is the same setting."""
    (Path.home() / "Notes").mkdir(parents=True)
    done = run("settings", "set", key, value, named=False)
    current = {"retrieval.top_k": "retrieval.default_k"}.get(key, key)

    assert done.returncode == 0, done.stderr
    expected = Path.home() / "Notes" if key == "vault.root" else loaded
    assert load_settings(environ={}).value(current) == expected


@pytest.mark.parametrize(
    ("words", "said", "hint"),
    [
        (["retrieval.default_kk", "5"], "did you mean retrieval.default_k?", "settings keys"),
        (["safety.autonomy", "hihg"], "'hihg' is not one of low, medium, high; did you mean high?", "How freely"),
        (["retrieval.default_k", "many"], "'many' is not a number", "hits"),
        (["retrieval.default_k", "500"], "default_k must not be larger than max_k", "Change one of the two."),
        (["retrieval.default_k", "-1"], "must be at least 1, not -1", "hits"),
        (["retrieval.default_k", "--five"], "no such option: --five", "--help"),
        (["user", ""], "user: must not be empty", "memory"),
        (["vault.backend", "nope"], "'nope' is not one of device-local, in-memory, obsidian-vault", "package"),
        (["vault.root", "/no/such/folder"], "there is no folder '/no/such/folder'", "commonplace vault use"),
        (["safety.path_allowlist", "Inbox,../x"], "'../x' is not a folder inside the vault", "relative to the vault"),
        (["safety.path_allowlist", "/etc"], "'/etc' is not a folder inside the vault", "relative to the vault"),
        (["safety.path_allowlist", ".git"], "'.git' is not a folder inside the vault", "relative to the vault"),
        (["safety.path_allowlist", "[1,2]"], "is not a list of strings", "folders"),
        (["safety.path_allowlist", "[Inbox, Two]"], "write a, b, c without brackets", "folders"),
        (["vault.root", "Notes"], "'Notes' is not an absolute path", "Start the path with / or ~."),
        (["vault.root", "/x", "--for-vault"], "vault.root may not be set for one vault", "settings path"),
        (["data", "/x", "--for-vault"], "data may not be set for one vault", "settings path"),
    ],
)
def test_what_cannot_be_set_is_refused_and_nothing_is_written(run: Run, words: list[str], said: str, hint: str) -> None:
    """By the same checks as loading a file, with the most similar name and what to do."""
    done = run("settings", "set", *words)

    assert done.returncode in (2, 3)
    assert said in done.stderr
    assert hint in done.stderr
    assert not user_settings_file().exists()


def test_a_vault_in_the_settings_that_hides_the_list_is_told(run: Run, vault: Path, tmp_path: Path) -> None:
    """It counts instead of the default vault and of the others on the list; the default itself hides nothing."""
    (tmp_path / "other").mkdir()
    same = run("settings", "set", "vault.root", str(vault), named=False)
    done = run("settings", "set", "vault.root", str(tmp_path / "other"), named=False)

    assert "instead of the default vault" not in same.stderr
    assert f"instead of the default vault {vault}" in done.stderr
    assert done.returncode == 0


def test_what_overrides_a_setting_is_told(run: Run, vault: Path) -> None:
    """A variable, a flag, or the file for one vault."""
    by_variable = run("settings", "set", "embedding.provider", "none", COMMONPLACE_EMBEDDING__PROVIDER="hashing")
    by_flag = run("settings", "set", "retrieval.max_k", "20", "--set", "retrieval.max_k=10")
    run("settings", "set", "retrieval.default_k", "3", "--for-vault")
    by_vault = run("settings", "set", "retrieval.default_k", "4")

    assert "But $COMMONPLACE_EMBEDDING__PROVIDER sets it to hashing, and that counts." in by_variable.stdout
    assert "But a flag of this call sets it to 10, and that counts." in by_flag.stdout
    assert f"But {user_vault_file(vault)} sets it to 3, and that counts." in by_vault.stdout


def test_settings_for_one_vault_are_yours_and_not_inside_it(run: Run, vault: Path) -> None:
    """`show` names their file, `path` lists it, other vaults do not have them."""
    run("settings", "set", "safety.path_allowlist", "Inbox,Journal", "--for-vault")
    file = user_vault_file(vault)
    (shown,) = answer(run("settings", "show", "safety.path_allowlist", "--json"))["settings"]
    paths = answer(run("settings", "path", "--json"))
    elsewhere = load_settings(environ={}, flags={"vault.root": str(vault.parent)})

    assert file is not None
    assert not file.is_relative_to(vault)
    assert (shown["value"], shown["from"]) == (["Inbox", "Journal"], str(file))
    assert (paths["path"], paths["for_vault"], paths["in_vault"]) == (str(user_settings_file()), str(file), None)
    assert "Journal" not in elsewhere.settings.safety.path_allowlist
    run("settings", "unset", "safety.path_allowlist", "--for-vault")
    assert load_settings(environ={}, flags={"vault.root": str(vault)}).origins.get("safety.path_allowlist") is None


def test_a_vault_that_is_not_registered_has_no_settings_of_its_own(run: Run, tmp_path: Path) -> None:
    """They are kept by its name, which `init` gives."""
    (tmp_path / "other").mkdir()
    done = run("settings", "set", "user", "x", "--for-vault", "--vault", str(tmp_path / "other"), named=False)

    assert done.returncode == 2
    assert "the vault is not registered" in done.stderr
    assert "commonplace init" in done.stderr


def test_a_password_in_an_address_is_printed_nowhere(run: Run) -> None:
    """It is set as it was given, and hidden in every answer, also in JSON."""
    url = "postgresql://ada:s3cr/et@db.example.org/notes"
    answers = [
        run("settings", "set", "postgresql.url", url),
        run("settings", "show", "postgresql"),
        run("settings", "show", "--json"),
        run("settings", "set", "postgresql.url", f"{url}?password=s3cr", "--json"),
        run("settings", "unset", "postgresql.url", "--json"),
    ]

    assert [each.returncode for each in answers] == [0] * 5
    assert not any("s3cr" in each.stdout + each.stderr for each in answers)
    assert "postgresql://ada:(hidden)@db.example.org/notes" in answers[1].stdout


def test_a_value_that_stops_everything_can_be_mended(run: Run) -> None:
    """The file holds a number that is no number, and the command that sets it still works."""
    user_settings_file().parent.mkdir(parents=True, exist_ok=True)
    user_settings_file().write_text('[retrieval]\ndefault_k = "x"\n')

    assert run("settings", "show").returncode == 2
    assert run("settings", "set", "retrieval.default_k", "5").returncode == 0
    assert load_settings(environ={}).settings.retrieval.default_k == 5


def test_the_example_loads_as_it_is_and_with_every_line_in_use(run: Run, home: Path) -> None:
    """It has every option with its default, and the few without a default as an example."""
    text = run("settings", "example", named=False).stdout
    file = home / "example.toml"
    file.write_text(text)
    defaults = load_settings(environ={}).settings
    as_it_is = load_settings(environ={"COMMONPLACE_SETTINGS": str(file)})
    lines = [line.removeprefix("#") if line.startswith("#") and line[1:2] != " " else line for line in text.split("\n")]
    file.write_text("\n".join(lines))
    in_use = load_settings(environ={"COMMONPLACE_SETTINGS": str(file)}, flags={"vault.root": None})

    assert as_it_is.settings == defaults
    assert {*in_use.origins} == {*OPTIONS}
    assert all(in_use.value(key) == option.default for key, option in OPTIONS.items() if option.default is not None)
    assert all(f"# {option.doc}" in text for option in OPTIONS.values())
    assert json.loads(run("settings", "example", "--json", named=False).stdout)["text"] == text
