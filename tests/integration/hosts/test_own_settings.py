"""A command changes one value in the person's own settings file, and nothing else in it."""

from pathlib import Path

import pytest

from commonplace.errors import UsageError
from commonplace.hosts.own_settings import save_setting
from commonplace.settings.load import load_settings, user_settings_file


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
        ("settings.yaml", "embedding:\n  provider: none\n", "Put `provider: hashing` into its block `embedding:`"),
        ("settings.toml", "embedding = [", "Correct the file."),
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
