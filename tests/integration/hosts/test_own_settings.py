"""A command changes one value in the person's own settings file, and nothing else in it."""

from pathlib import Path

import pytest

from commonplace.errors import UsageError
from commonplace.hosts.own_settings import remove_setting, save_setting
from commonplace.settings.load import load_settings, user_settings_file
from commonplace.settings.registered_vaults import register_vault, registered_vaults


def test_a_file_is_made_if_there_is_none() -> None:
    """For its owner alone, and it is what the settings are then read from."""
    file = save_setting("embedding.provider", "gte-small")

    assert file == user_settings_file()
    assert file.read_text() == '[embedding]\nprovider = "gte-small"\n'
    assert file.stat().st_mode & 0o777 == 0o600
    assert load_settings(environ={}).settings.embedding.provider == "gte-small"


def test_the_rest_of_the_file_stays_as_it_is() -> None:
    """Comments, order, other tables; an older name of the option is replaced, as both at once would be an error."""
    file = user_settings_file()
    file.parent.mkdir(parents=True)
    file.write_text('# mine\n[retrieval]\ndefault_k = 5 # few\n\n[embedding]\nmodel = "none"\nmax_tokens = 128\n')
    save_setting("embedding.provider", "hashing")

    assert file.read_text() == (
        '# mine\n[retrieval]\ndefault_k = 5 # few\n\n[embedding]\nprovider = "hashing"\nmax_tokens = 128\n'
    )
    assert load_settings(environ={}).settings.embedding.provider == "hashing"


@pytest.mark.parametrize(
    ("name", "text", "hint"),
    [
        ("settings.yaml", "embedding:\n  provider: none\n", 'Put `provider: "hashing"` into its block `embedding:`'),
        ("settings.toml", "embedding = [", "Correct that line by hand."),
    ],
)
def test_a_file_that_cannot_be_changed_safely_is_left_alone(name: str, text: str, hint: str) -> None:
    """The error says what to write by hand."""
    file: Path = user_settings_file().with_name(name)
    file.parent.mkdir(parents=True)
    file.write_text(text)

    with pytest.raises(UsageError) as caught:
        save_setting("embedding.provider", "hashing")
    assert hint in str(caught.value.hint)
    assert file.read_text() == text


@pytest.mark.parametrize(
    ("before", "key", "value", "after"),
    [
        ("", "user", "robin", 'user = "robin"\n'),
        ("# mine\nuser = 'a' # b\n[x]\n", "user", "robin", 'user = "robin"\n# mine\n[x]\n'),
        ("[vault]\n", "sources.chat.enabled", False, "[vault]\n\n[sources.chat]\nenabled = false\n"),
        ("[facts]\r\nkinds = []\r\n", "facts.kinds", ("a", "b"), '[facts]\r\nkinds = ["a", "b"]\r\n'),
        ("\ufeff", "user", "é", '\ufeffuser = "é"\n'),
    ],
)
def test_a_key_of_any_depth_is_written_where_it_belongs(before: str, key: str, value: object, after: str) -> None:
    """Above all tables, or in the table of its block; line ends and marks of the file stay."""
    file = user_settings_file()
    file.parent.mkdir(parents=True)
    file.write_bytes(before.encode())
    save_setting(key, value)

    assert file.read_bytes().decode() == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[retrieval]\n# few\ndefault_k = 5\nmax_k = 9\n", "[retrieval]\n# few\nmax_k = 9\n"),
        ("retrieval.top_k = 5\n[vault]\n", "[vault]\n"),
        ("[vault]\n", "[vault]\n"),
        ("[retrieval]\ndefault_k = 5\n", ""),
        ("user = 'a'\n\n[retrieval]\ndefault_k = 5\n", "user = 'a'\n"),
        ("[retrieval]\ndefault_k = 5\n\n[vault]\n", "[vault]\n"),
        ("[vault]\r\n\r\n[retrieval]\r\ndefault_k = 5\r\n", "[vault]\r\n"),
        ("[retrieval]\n# mine\ndefault_k = 5\n", "[retrieval]\n# mine\n"),
        ("[retrieval]\ndefault_k = 5\n[retrieval.x]\ny = 1\n", "[retrieval]\n[retrieval.x]\ny = 1\n"),
    ],
)
def test_a_setting_is_removed_and_the_rest_stays(before: str, after: str) -> None:
    """By its name or an older one, with a header that is left without anything; what does not set it is not written."""
    file = user_settings_file()
    file.parent.mkdir(parents=True)
    file.write_bytes(before.encode())

    assert remove_setting("retrieval.default_k") == (file, before != after)
    assert file.read_bytes().decode() == after


def test_a_broken_file_is_told_by_its_line() -> None:
    """As `settings show` does."""
    file = user_settings_file()
    file.parent.mkdir(parents=True)
    file.write_text("user = 'a'\nb = = 1\n")

    with pytest.raises(UsageError, match="line 2: "):
        save_setting("user", "robin")


def test_a_key_without_a_block_is_said_to_be_at_the_top_level() -> None:
    """What to write by hand into a YAML file, where a setting stands in no block."""
    file = user_settings_file().with_name("settings.yaml")
    file.parent.mkdir(parents=True)
    file.write_text("user: a\n")

    with pytest.raises(UsageError) as caught:
        save_setting("user", "bob")
    assert caught.value.hint == 'Put `user: "bob"` at the top level yourself.'
    with pytest.raises(UsageError) as caught:
        remove_setting("user")
    assert caught.value.hint == "Remove `user` from the top level yourself."


def test_a_table_in_one_line_is_left_to_the_person() -> None:
    """What cannot be changed safely is not changed."""
    file = user_settings_file()
    file.parent.mkdir(parents=True)
    file.write_text("retrieval = { default_k = 5, max_k = 9 }\n")

    with pytest.raises(UsageError, match="cannot be changed safely"):
        remove_setting("retrieval.default_k")
    assert file.read_text() == "retrieval = { default_k = 5, max_k = 9 }\n"


def test_a_setting_for_one_vault_has_a_file_of_its_own(tmp_path: Path) -> None:
    """Named after the vault; for its owner alone."""
    root = register_vault(tmp_path).root
    file = save_setting("safety.path_allowlist", ("Inbox",), vault=tmp_path)

    assert file == user_settings_file().parent / "vaults" / f"{registered_vaults().name_of(root)}.toml"
    assert file.stat().st_mode & 0o777 == 0o600
    assert not user_settings_file().exists()
    assert load_settings(environ={}).settings.safety.path_allowlist == ("Inbox",)
    assert remove_setting("safety.path_allowlist", vault=tmp_path) == (file, True)
