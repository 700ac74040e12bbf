"""Loading settings: where values come from, which are refused, and with what message."""

from pathlib import Path

import platformdirs
import pytest

from commonplace.errors import Refused, UsageError
from commonplace.settings.load import LoadedSettings, load_settings, user_vault_file
from commonplace.settings.registered_vaults import register_vault
from commonplace.settings.schema import OPTIONS


def load(*, toml: str = "", yaml: str = "", flags: dict[str, object] | None = None, **environ: str) -> LoadedSettings:
    folder = platformdirs.user_config_path("commonplace", ensure_exists=True)
    if toml:
        (folder / "settings.toml").write_text(toml)
    if yaml:
        (folder / "settings.yaml").write_text(yaml)
    return load_settings(flags=flags, environ=environ)


EVERY_BLOCK = """
vault:
  root: /srv/notes
  git_author_name: Robin
  git_author_email: robin@example.org
  ignore_globs: [".obsidian/**"]
safety:
  max_note_bytes: 1000
  path_allowlist: [Inbox, Daily]
  sensitive_frontmatter_key: secret
embedding:
  provider: http
  version_tag: other@1
  dim: 768
  max_tokens: 128
  chunk_overlap: 16
retrieval:
  default_k: 4
  min_score: 0.5
  max_k: 16
sources:
  vault:
    enabled: false
    ignore_globs: ["Templates/**", "Private/**"]
    rename_window_seconds: 3.5
  chat: false
"""


@pytest.mark.requirement("D-01")
def test_every_block_of_one_file_is_filled() -> None:
    """One YAML file fills the blocks `vault`, `safety`, `embedding`, `retrieval` and `sources`."""
    settings = load(yaml=EVERY_BLOCK).settings

    assert settings.vault.root == Path("/srv/notes")
    assert (settings.vault.git_author_name, settings.vault.git_author_email) == ("Robin", "robin@example.org")
    assert settings.safety.path_allowlist == ("Inbox", "Daily")
    assert settings.embedding.dim == 768
    assert settings.retrieval.min_score == 0.5
    assert settings.sources.vault.ignore_globs == ("Templates/**", "Private/**")
    assert (settings.sources.vault.enabled, settings.sources.chat.enabled) == (False, False)


@pytest.mark.requirement("D-01")
def test_what_settings_show_prints_can_be_loaded_again() -> None:
    """The typed settings round-trip: every value given back by its key loads to the same settings."""
    first = load(yaml=EVERY_BLOCK)
    again = load_settings(flags={key: _as_written(first.value(key)) for key in OPTIONS}, environ={})

    assert again.settings == first.settings


def _as_written(value: object) -> object:
    return list(value) if isinstance(value, tuple) else str(value) if isinstance(value, Path) else value


@pytest.mark.requirement("D-02")
def test_no_vault_by_default_and_an_absolute_one_in_a_file() -> None:
    """`vault.root` has no default, and a settings file must give it as an absolute path."""
    assert load().settings.vault.root is None
    with pytest.raises(UsageError, match="'Notes' is not an absolute path"):
        load(toml="[vault]\nroot = 'Notes'\n")


def test_the_defaults() -> None:
    """The defaults that docs/requirements.md names; what they do is tested where they are read."""
    settings = load_settings(environ={}).settings

    assert (settings.vault.git_author_name, settings.vault.git_author_email) == ("Commonplace", "commonplace@localhost")
    assert settings.vault.ignore_globs == (".obsidian/**", ".trash/**", ".git/**")
    assert (settings.sources.vault.enabled, settings.sources.chat.enabled) == (True, True)
    assert settings.sources.vault.ignore_globs == ("Templates/**", "**/.*")
    assert settings.sources.vault.rename_window_seconds == 2.0
    assert settings.safety.max_note_bytes == 200_000
    assert settings.safety.path_allowlist[:6] == ("Inbox", "Meetings", "People", "Projects", "Daily", "Reviews")
    assert settings.safety.path_allowlist[6:] == ("WeeklyReview", "Reflections", "Commitments")
    assert settings.safety.sensitive_frontmatter_key == "sensitive"
    assert (settings.embedding.provider, settings.embedding.version_tag) == ("minilm-l6-v2", "minilm-l6-v2@2024-05")
    assert (settings.embedding.dim, settings.embedding.max_tokens, settings.embedding.chunk_overlap) == (384, 256, 32)
    assert (settings.retrieval.default_k, settings.retrieval.min_score, settings.retrieval.max_k) == (8, 0.25, 32)


@pytest.mark.parametrize(
    "key",
    [
        "vault.sync_method",
        "vault.templates_dir",
        "sources.vault.chunker",
    ],
)
def test_a_setting_that_was_removed_is_reported_like_any_unknown_one(key: str) -> None:
    """An older file fails with the key, instead of loading with a setting that has no effect."""
    with pytest.raises(UsageError, match=f"no setting is called {key}"):
        load(toml=f"{key} = true\n")


def test_the_short_form_switches_a_source() -> None:
    """`chat: false` is short for `chat: {enabled: false}`."""
    assert not load(yaml="sources:\n  chat: false\n").settings.sources.chat.enabled


@pytest.mark.requirement("D-15")
def test_older_names_take_effect() -> None:
    """`model`, `chunk_tokens` and `top_k` set what is now `provider`, `max_tokens` and `default_k`."""
    settings = load(yaml="embedding: {model: hashing, chunk_tokens: 100}\nretrieval: {top_k: 3}\n").settings

    assert (settings.embedding.provider, settings.embedding.max_tokens, settings.retrieval.default_k) == (
        "hashing",
        100,
        3,
    )


def test_an_older_and_a_newer_name_side_by_side_are_refused() -> None:
    """It is unclear which of the two is right."""
    with pytest.raises(UsageError, match=r"retrieval.default_k and retrieval.top_k are the same setting"):
        load(toml="[retrieval]\ntop_k = 3\ndefault_k = 4\n")


def test_flags_win_over_the_environment_which_wins_over_the_file() -> None:
    """TOML < environment < flags, and every value tells where it comes from."""
    loaded = load(
        toml="[retrieval]\ndefault_k = 3\nmax_k = 10\n[safety]\nmax_note_bytes = 5\n",
        flags={"retrieval.max_k": "30"},
        COMMONPLACE_RETRIEVAL__DEFAULT_K="4",
        COMMONPLACE_RETRIEVAL__MAX_K="20",
    )

    assert (loaded.settings.retrieval.default_k, loaded.settings.retrieval.max_k) == (4, 30)
    assert loaded.origins["retrieval.default_k"] == "$COMMONPLACE_RETRIEVAL__DEFAULT_K"
    assert loaded.origins["retrieval.max_k"] == "flag"
    assert loaded.origins["safety.max_note_bytes"].endswith("settings.toml")


@pytest.mark.requirement("A-60")
def test_the_vault_is_found_through_environment_then_file_then_not_at_all(tmp_path: Path) -> None:
    """`$COMMONPLACE_VAULT`, then `$MEMORY_VAULT_PATH`, then the settings file; else no vault, and no guess."""
    in_file = f'[vault]\nroot = "{tmp_path}"\n'

    assert load().settings.vault.root is None
    assert load(toml=in_file).settings.vault.root == tmp_path
    assert load(MEMORY_VAULT_PATH="/m").settings.vault.root == Path("/m")
    assert load(MEMORY_VAULT_PATH="/m", COMMONPLACE_VAULT="/c").settings.vault.root == Path("/c")


@pytest.mark.parametrize(
    ("toml", "names"),
    [
        ("[retrieval]\ndefualt_k = 3", ["retrieval.defualt_k", "did you mean retrieval.default_k?"]),
        ("[retreival]\ndefault_k = 3", ["retreival.default_k", "did you mean retrieval.default_k?"]),
        ("[retrieval]\ndefault_k = 0", ["retrieval.default_k", "must be at least 1, not 0"]),
        ("[retrieval]\ndefault_k = 40", ["retrieval", "must not be larger than max_k"]),
        ("[embedding]\nchunk_overlap = 256", ["embedding", "smaller than max_tokens"]),
        ("retrieval = 3", ["retrieval"]),
        ("[sources]\nchat = 'perhaps'", ["sources.chat", "neither true nor false"]),
        ("a = " + "[" * 5000, ["not valid TOML"]),
        (".".join(["a"] * 5000) + " = 1", ["no setting is called a.a"]),
        ("[retrieval]\ndefault_k = " + "9" * 5000, ["not valid TOML"]),
        ("not toml", ["not valid TOML", "line 1"]),
    ],
)
def test_a_typo_fails_at_load_and_names_the_key(toml: str, names: list[str]) -> None:
    """The message has the key as written, what is wrong with it, and the nearest valid one."""
    with pytest.raises(UsageError) as raised:
        load(toml=toml)

    assert all(name in raised.value.message for name in names), raised.value.message
    assert raised.value.path


@pytest.mark.parametrize("name", ["COMMONPLACE_RETRIEVAL__DEFAULT_X", "COMMONPLACE_VUALT"])
def test_a_typo_in_a_variable_fails_too(name: str) -> None:
    """A variable of ours that sets nothing is a mistake, not noise."""
    with pytest.raises(UsageError, match="no setting is called"):
        load_settings(environ={name: "3"})


@pytest.mark.parametrize("folder", ["../x", "/etc", ".git", "Inbox/../.."])
def test_a_folder_outside_the_vault_fails_at_load_and_is_named(folder: str) -> None:
    """As `init --folders` refuses it: programs may write only inside the vault."""
    with pytest.raises(UsageError, match=f"safety.path_allowlist: '{folder}' is not a folder inside the vault"):
        load_settings(environ={"COMMONPLACE_SAFETY__PATH_ALLOWLIST": f"Inbox,{folder}"})


def test_a_yaml_file_with_a_doubled_key_fails_with_its_line() -> None:
    """Which of the two counts is not left to chance."""
    with pytest.raises(UsageError, match="line 3"):
        load(yaml="retrieval:\n  max_k: 9\n  max_k: 10\n")


def test_two_settings_files_side_by_side_are_refused() -> None:
    """Nobody has to know which of them wins."""
    with pytest.raises(UsageError, match="two settings files"):
        load(toml="user = 'a'", yaml="user: b")


def test_a_named_settings_file_must_be_there(tmp_path: Path) -> None:
    """`COMMONPLACE_SETTINGS` with a typo does not fall back in silence."""
    with pytest.raises(UsageError, match="cannot be read"):
        load(COMMONPLACE_SETTINGS=str(tmp_path / "no.toml"))


def test_a_file_in_the_vault_may_set_harmless_options(tmp_path: Path) -> None:
    """How many hits and which folders to leave out is the vault's own affair; the person's own file wins over it."""
    (tmp_path / ".commonplace.toml").write_text("[retrieval]\ndefault_k = 3\nmin_score = 0.1\n")

    loaded = load(COMMONPLACE_VAULT=str(tmp_path), toml="[retrieval]\nmin_score = 0.4\n")

    assert (loaded.settings.retrieval.default_k, loaded.settings.retrieval.min_score) == (3, 0.4)
    assert loaded.origins["retrieval.default_k"] == str(tmp_path / ".commonplace.toml")


def test_few_options_may_be_set_from_inside_a_vault() -> None:
    """How many hits to give and what not to index; everything else is the user's to set."""
    allowed = {key for key, option in OPTIONS.items() if option.vault_may_set}

    assert allowed == {
        "retrieval.default_k",
        "retrieval.min_score",
        "retrieval.per_note",
        "sources.vault.ignore_globs",
    }


@pytest.mark.parametrize(
    "line",
    [
        '[safety]\npath_allowlist = ["Private"]',
        '[embedding]\nendpoint = "http://example.org"',
        '[vault]\nbackend = "other"',
        'data = "/tmp"',
    ],
)
def test_a_file_in_the_vault_may_set_nothing_else(tmp_path: Path, line: str) -> None:
    """A cloned vault cannot widen paths, name endpoints or switch off a safety."""
    (tmp_path / ".commonplace.toml").write_text(f"{line}\n")

    with pytest.raises(Refused, match="may not be set from inside a vault"):
        load(COMMONPLACE_VAULT=str(tmp_path))


def test_a_file_in_the_vault_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    """A vault cannot make us read a file of the person's."""
    (tmp_path / "elsewhere.toml").write_text("[retrieval]\ndefault_k = 3\n")
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault/.commonplace.toml").symlink_to(tmp_path / "elsewhere.toml")

    with pytest.raises(Refused, match="symbolic link"):
        load(COMMONPLACE_VAULT=str(tmp_path / "vault"))


@pytest.fixture
def registered(tmp_path: Path) -> Path:
    """A registered vault, with the person's own settings for it in the folder `vaults`."""
    (tmp_path / "garden").mkdir()
    return register_vault(tmp_path / "garden").root


def write_for_vault(root: Path, text: str) -> Path:
    file = user_vault_file(root)
    assert file is not None
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def test_the_files_of_a_vault_and_of_its_owner_win_in_their_order(registered: Path) -> None:
    """Defaults < the vault's own file < the user's file < the user's file for that vault < environment < flags."""
    (registered / ".commonplace.toml").write_text("[retrieval]\ndefault_k = 1\nmin_score = 0.1\n")
    file = write_for_vault(registered, "[retrieval]\ndefault_k = 3\nmax_k = 13\n")
    own = "[retrieval]\ndefault_k = 2\nmin_score = 0.2\n"
    chosen: dict[str, object] = {"vault.root": str(registered)}
    all_files = load(toml=own, flags=chosen)
    by_variable = load(toml=own, flags=chosen, COMMONPLACE_RETRIEVAL__DEFAULT_K="4")
    by_flag = load(toml=own, flags={**chosen, "retrieval.default_k": "5"}, COMMONPLACE_RETRIEVAL__DEFAULT_K="4")
    other = load(toml=own, flags={"vault.root": str(registered.parent)})

    assert all_files.value("retrieval.default_k") == 3
    assert all_files.value("retrieval.min_score") == 0.2
    assert all_files.origins["retrieval.max_k"] == str(file)
    assert [each.value("retrieval.default_k") for each in (by_variable, by_flag, other)] == [4, 5, 2]


def test_the_users_file_for_a_vault_counts_for_the_default_vault_too(registered: Path) -> None:
    """And may set what a vault itself may not."""
    write_for_vault(registered, '[safety]\npath_allowlist = ["Journal"]\nautonomy = "low"\n')
    loaded = load()

    assert loaded.settings.vault.root == registered
    assert loaded.settings.safety.path_allowlist == ("Journal",)
    assert loaded.settings.safety.autonomy == "low"


@pytest.mark.parametrize("line", ['data = "/srv/data"', '[vault]\nroot = "/srv/notes"'])
def test_a_file_for_one_vault_says_neither_which_vault_nor_where_its_data_is(registered: Path, line: str) -> None:
    """Both decide which file is read, or where what was derived already is."""
    write_for_vault(registered, line)

    with pytest.raises(Refused, match="may not be set for one vault"):
        load()
