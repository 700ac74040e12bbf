"""Settings: where values come from, what is refused, and how it is said."""

from dataclasses import FrozenInstanceError, astuple
from pathlib import Path

import platformdirs
import pytest

from commonplace.errors import Refused, UsageError
from commonplace.settings import KNOBS, Loaded, Settings, load_settings


def load(*, toml: str = "", yaml: str = "", flags: dict[str, object] | None = None, **environ: str) -> Loaded:
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
  sync_method: syncthing
  templates_dir: my/templates
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
    chunker: markdown_heading
    ignore_globs: ["Templates/**", "Private/**"]
    rename_window_seconds: 3.5
  chat: true
  tasks: false
  corrections: {enabled: true}
skills:
  meeting_note:
    enabled: false
    poll_interval_seconds: 30
    lookback_minutes: 10
    autonomy_level: high
    context_limits: {prior_meetings: 1, recent_chats: 2, open_tasks: 3}
"""


@pytest.mark.requirement("D-01")
def test_every_block_of_one_file_is_filled() -> None:
    """One file sets `vault`, `safety`, `embedding`, `retrieval`, `sources` and `skills`, every key of them."""
    settings = load(yaml=EVERY_BLOCK).settings

    assert settings.vault.root == Path("/srv/notes")
    assert settings.vault.sync_method == "syncthing"
    assert settings.safety.path_allowlist == ("Inbox", "Daily")
    assert settings.embedding.dim == 768
    assert settings.retrieval.min_score == 0.5
    assert settings.sources.vault.ignore_globs == ("Templates/**", "Private/**")
    assert (settings.sources.chat.enabled, settings.sources.corrections.enabled) == (True, True)
    assert settings.skills.meeting_note.autonomy_level == "high"
    assert settings.skills.meeting_note.context_limits.open_tasks == 3


@pytest.mark.requirement("D-01")
def test_what_settings_show_prints_can_be_loaded_again() -> None:
    """The typed settings round-trip: every value given back by its key loads to the same settings."""
    first = load(yaml=EVERY_BLOCK)
    again = load_settings(flags={key: _as_written(first.value(key)) for key in KNOBS}, environ={})

    assert again.settings == first.settings


def _as_written(value: object) -> object:
    return list(value) if isinstance(value, tuple) else str(value) if isinstance(value, Path) else value


@pytest.mark.requirement("D-02", "D-03", "D-04")
def test_the_defaults_of_the_vault_block() -> None:
    """No vault by default, commits by Commonplace, sync by WebDAV."""
    vault = Settings().vault

    assert vault.root is None
    assert (vault.git_author_name, vault.git_author_email) == ("Commonplace", "commonplace@localhost")
    assert vault.sync_method == "webdav"


@pytest.mark.requirement("D-05", "D-06")
def test_the_defaults_of_paths_and_globs() -> None:
    """Templates in `prompts/vault`; vault-wide globs, with `Templates/**` layered on top for the index."""
    settings = Settings()

    assert settings.vault.templates_dir == Path("prompts/vault")
    assert settings.vault.ignore_globs == (".obsidian/**", ".trash/**", ".git/**")
    assert settings.sources.vault.enabled
    assert settings.sources.vault.chunker == "markdown_heading"
    assert settings.sources.vault.ignore_globs == ("Templates/**", "**/.*")


@pytest.mark.requirement("D-08", "D-09")
def test_the_defaults_of_the_safety_block() -> None:
    """200,000 bytes a note, the allowlisted folders, the sensitive key."""
    safety = Settings().safety

    assert safety.max_note_bytes == 200_000
    assert safety.path_allowlist[:6] == ("Inbox", "Meetings", "People", "Projects", "Daily", "Reviews")
    assert safety.path_allowlist[6:] == ("WeeklyReview", "Reflections", "Commitments")
    assert safety.sensitive_frontmatter_key == "sensitive"


@pytest.mark.requirement("D-10", "D-12", "D-16")
def test_the_defaults_of_encoding_search_and_renames() -> None:
    """MiniLM with 384 dimensions and chunks of 256 tokens; 8 hits, at most 32, from a cosine of .25; 2 s to rename."""
    settings = Settings()

    assert settings.embedding.provider == "minilm-l6-v2"
    assert settings.embedding.version_tag == "minilm-l6-v2@2024-05"
    assert (settings.embedding.dim, settings.embedding.max_tokens, settings.embedding.chunk_overlap) == (384, 256, 32)
    assert (settings.retrieval.default_k, settings.retrieval.min_score, settings.retrieval.max_k) == (8, 0.25, 32)
    assert settings.sources.vault.rename_window_seconds == 2.0


@pytest.mark.requirement("D-95")
def test_the_defaults_of_the_meeting_note() -> None:
    """On, every 60 s, 5 minutes back, medium autonomy, five of each kind of context."""
    skill = Settings().skills.meeting_note

    assert (skill.enabled, skill.poll_interval_seconds, skill.lookback_minutes) == (True, 60, 5)
    assert (skill.autonomy_level, astuple(skill.context_limits)) == ("medium", (5, 5, 5))


@pytest.mark.requirement("D-14")
def test_each_source_of_episodes_is_switched_by_itself() -> None:
    """`chat: true`, `tasks: false`, `corrections: false` is the default, and the short form loads.

    Chat is on because a person who records a conversation wants to find it; tasks and corrections stay off.
    """
    unset, sources = load().settings.sources, load(yaml="sources:\n  chat: false\n  tasks: true\n").settings.sources

    assert (unset.chat.enabled, unset.tasks.enabled, unset.corrections.enabled) == (True, False, False)
    assert (sources.chat.enabled, sources.tasks.enabled, sources.corrections.enabled) == (False, True, False)


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
    """Which of the two was meant cannot be known."""
    with pytest.raises(UsageError, match=r"retrieval.default_k and retrieval.top_k are one setting"):
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
        ("[retrieval]\ndefault_k = 'many'", ["retrieval.default_k", "'many' is not a number"]),
        ("[retrieval]\ndefault_k = 2.5", ["retrieval.default_k", "not a whole number"]),
        ("[retrieval]\ndefault_k = 0", ["retrieval.default_k", "the least is 1"]),
        ("[retrieval]\nmin_score = 1.5", ["retrieval.min_score", "the most is 1.0"]),
        ("[retrieval]\nmin_score = nan", ["retrieval.min_score", "not a number"]),
        ("[retrieval]\ndefault_k = true", ["retrieval.default_k", "not a number"]),
        ("[retrieval]\ndefault_k = 40", ["retrieval", "must not be larger than max_k"]),
        ("[embedding]\nchunk_overlap = 256", ["embedding", "smaller than max_tokens"]),
        ("[safety]\npath_allowlist = [1]", ["safety.path_allowlist", "not a list of texts"]),
        ("[sources.vault]\nenabled = 'perhaps'", ["sources.vault.enabled", "neither true nor false"]),
        ("[vault]\nsync_method = 'webdaw'", ["vault.sync_method", "webdav, syncthing, manual", "did you mean webdav?"]),
        ("[vault]\nroot = ''", ["vault.root", "not a text"]),
        ("retrieval = 3", ["retrieval"]),
        ("[sources]\nchat = 'perhaps'", ["sources.chat", "neither true nor false"]),
        ("[vault]\nroot = 'Notes'", ["vault.root", "not an absolute path"]),
        ("[vault]\nroot = '~nosuchuser/x'", ["vault.root", "no such user"]),
        ('[vault]\nroot = "a\\u0000b"', ["vault.root", "not a path"]),
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


def test_a_typo_in_the_autonomy_fails_at_load() -> None:
    """`autonomy_level` is low, medium or high."""
    with pytest.raises(UsageError, match=r"'mediun' is not one of low, medium, high; did you mean medium\?"):
        load(yaml="skills: {meeting_note: {autonomy_level: mediun}}")


@pytest.mark.parametrize("name", ["COMMONPLACE_RETRIEVAL__DEFAULT_X", "COMMONPLACE_VUALT"])
def test_a_typo_in_a_variable_fails_too(name: str) -> None:
    """A variable of ours that sets nothing is a mistake, not noise."""
    with pytest.raises(UsageError, match="no setting is called"):
        load_settings(environ={name: "3"})


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


def test_a_file_in_the_vault_may_set_harmless_knobs(tmp_path: Path) -> None:
    """How many hits and which folders to leave out is the vault's own affair; the person's own file wins over it."""
    (tmp_path / ".commonplace.toml").write_text("[retrieval]\ndefault_k = 3\nmin_score = 0.1\n")

    loaded = load(COMMONPLACE_VAULT=str(tmp_path), toml="[retrieval]\nmin_score = 0.4\n")

    assert (loaded.settings.retrieval.default_k, loaded.settings.retrieval.min_score) == (3, 0.4)
    assert loaded.origins["retrieval.default_k"] == str(tmp_path / ".commonplace.toml")


@pytest.mark.parametrize("key", [key for key, knob in KNOBS.items() if not knob.vault_may_set])
def test_a_file_in_the_vault_may_set_nothing_else(tmp_path: Path, key: str) -> None:
    """A cloned vault cannot widen paths, name endpoints or switch off a safety."""
    *blocks, name = key.split(".")
    header = f"[{'.'.join(blocks)}]\n" if blocks else ""
    (tmp_path / ".commonplace.toml").write_text(f'{header}{name} = "x"\n')

    with pytest.raises(Refused, match="may not be set from inside a vault"):
        load(COMMONPLACE_VAULT=str(tmp_path))


def test_a_file_in_the_vault_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    """A vault cannot make us read a file of the person's."""
    (tmp_path / "elsewhere.toml").write_text("[retrieval]\ndefault_k = 3\n")
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault/.commonplace.toml").symlink_to(tmp_path / "elsewhere.toml")

    with pytest.raises(Refused, match="symbolic link"):
        load(COMMONPLACE_VAULT=str(tmp_path / "vault"))


def test_options_are_frozen() -> None:
    """A room cannot change what another reads."""
    with pytest.raises(FrozenInstanceError):
        Settings().retrieval.default_k = 3  # type: ignore[misc]


def test_a_list_of_names_takes_only_those_that_are_known() -> None:
    """Each is looked at, and the nearest that is right is named."""
    fine = load(flags={"retrieval.without": "links, kinship"}).settings

    assert fine.retrieval.without == ("links", "kinship")
    with pytest.raises(UsageError, match="did you mean kinship"):
        load(flags={"retrieval.without": ["kinships"]})
