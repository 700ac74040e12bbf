"""Which model a task gets, with whose key: from the settings alone, and from no vault."""

from pathlib import Path

import pytest

from commonplace.app.models import make_models
from commonplace.errors import Refused, UsageError
from commonplace.flows.stores import ModelRoute
from commonplace.llm.options import TASKS, LlmOptions, Task
from commonplace.settings.load import load_settings
from tests.llm_server import MODEL, Answer, serving_models

KEY = "sk-very-secret"


def options(**values: object) -> LlmOptions:
    """The block `llm` with these values; two underscores stand for a dot."""
    flags = {f"llm.{name.replace('__', '.')}": value for name, value in values.items()}
    return load_settings(flags=flags).settings.llm


def route(task: Task = "extract", **values: object) -> ModelRoute:
    """The route of a task with these options."""
    found = make_models(options(**values)).route(task)
    assert found
    return found


@pytest.mark.requirement("V-26")
def test_nothing_leaves_unless_the_settings_ask_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key in the environment is no order to use it."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    models = make_models(options())

    assert [models.route(task) for task in TASKS] == [None] * len(TASKS)


@pytest.mark.requirement("V-26")
@pytest.mark.parametrize(
    "key", ["provider", "base_url", "model", "key_env", "key_file", "judge.base_url", "daily_tokens"]
)
def test_a_file_inside_a_vault_names_no_model(tmp_path: Path, key: str) -> None:
    """A cloned vault must not send the person's words to a server of its choice."""
    (tmp_path / ".commonplace.toml").write_text(f"[llm]\n{key} = 'openai'\n")

    with pytest.raises(Refused, match="inside a vault"):
        load_settings(flags={"vault.root": str(tmp_path)})


@pytest.mark.requirement("X-07")
def test_a_task_has_the_shared_model_or_one_of_its_own() -> None:
    """Provider, model, limits, prompt file and prices are set for each task, or for all."""
    shared = {"provider": "openai", "base_url": "http://127.0.0.1:1/v1", "model": "large", "price_in": 3.0}
    own = {"judge__model": "small", "judge__most_tokens": 99, "judge__prompt_file": "/p.md", "judge__price_in": 0.5}
    extract, judge = route("extract", **shared, **own), route("judge", **shared, **own)

    assert extract.model
    assert judge.model
    assert (extract.model.name, extract.most_tokens, extract.price_in) == ("large@127.0.0.1", 4000, 3.0)
    assert (judge.model.name, judge.most_tokens, judge.price_in) == ("small@127.0.0.1", 99, 0.5)
    assert judge.prompt_file == Path("/p.md")


@pytest.mark.requirement("X-07")
def test_a_task_may_use_another_provider_or_none() -> None:
    """Then nothing of the shared server is used for it: neither its key nor its prices."""
    shared = {"provider": "anthropic", "model": "large", "price_in": 3.0, "key_env": "ABSENT_KEY"}
    models = make_models(
        options(
            **shared,
            extract__provider="none",
            judge__provider="openai",
            judge__model="small",
            judge__base_url="http://127.0.0.1:1/v1",
        )
    )
    judge = models.route("judge")

    assert models.route("extract") is None
    assert judge
    assert judge.model
    assert (judge.model.name, judge.price_in) == ("small@127.0.0.1", 0.0)


@pytest.mark.parametrize("name", ["base_url", "key_env", "key_file"])
def test_a_task_without_a_provider_has_no_server_of_its_own(name: str) -> None:
    """The shared key would go to it."""
    with pytest.raises(UsageError, match="provider"):
        options(**{f"judge__{name}": "http://example.org"})


def test_a_key_of_the_environment_goes_to_the_providers_own_server_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server by base URL gets no key that is not named for it."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with serving_models(default=Answer({})) as server:
        found = route(provider="openai", base_url=server.openai, model=MODEL)
        assert found.model
        found.model.ask((), {"type": "object"}, most_tokens=16)

    assert "authorization" not in server.requests[0].headers
    assert route(provider="openai", model=MODEL).model


def test_a_key_from_a_file_is_sent_and_read_again(tmp_path: Path) -> None:
    """A new key in the file counts at once, and is another identity: failures of the old one are forgotten."""
    file = tmp_path / "key"
    file.touch(mode=0o600)
    with serving_models(default=Answer({})) as server:
        models = make_models(options(provider="openai", base_url=server.openai, model=MODEL, key_file=str(file)))
        identities = set()
        for key in ("first", "second"):
            file.write_text(f"{key}\n")
            found = models.route("extract")
            assert found
            assert found.model
            identities.add(found.identity)
            found.model.ask((), {"type": "object"}, most_tokens=16)

    assert [each.headers["authorization"] for each in server.requests] == ["Bearer first", "Bearer second"]
    assert len(identities) == 2


@pytest.mark.parametrize(
    ("content", "mode", "said"),
    [
        (KEY, 0o644, "other users"),
        (KEY, 0o640, "other users"),
        (" \n", 0o600, "no key"),
        (None, 0o600, "cannot be read"),
    ],
)
def test_a_key_file_that_others_may_read_is_not_used(tmp_path: Path, content: str | None, mode: int, said: str) -> None:
    """The reason is told without the key."""
    file = tmp_path / "key"
    if content is not None:
        file.write_text(content)
        file.chmod(mode)
    found = route(provider="openai", model=MODEL, key_file=str(file))

    assert found.model is None
    assert said in found.missing
    assert KEY not in found.missing


def test_what_is_not_complete_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing key, a missing model, an address that is none."""
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)

    assert "ANTHROPIC_API_KEY holds no key" in route(provider="anthropic", model=MODEL).missing
    assert "no model is named" in route(provider="openai", base_url="http://127.0.0.1:1").missing
    assert "not an HTTP address" in route(provider="openai", base_url="file:///etc", model=MODEL).missing


def test_other_settings_are_another_identity() -> None:
    """What failed with the old ones is asked again with the new."""
    first = route(provider="openai", base_url="http://127.0.0.1:1", model="a")

    assert first.identity == route("judge", provider="openai", base_url="http://127.0.0.1:1", model="a").identity
    assert first.identity != route(provider="openai", base_url="http://127.0.0.1:1", model="b").identity
    assert first.identity != route(provider="openai", base_url="http://127.0.0.1:2", model="a").identity
