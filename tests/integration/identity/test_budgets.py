"""The model budgets of people: over all their vaults, on the account of whoever asks, else of the vault's owner."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from commonplace.app.models import make_allowance, make_models
from commonplace.errors import ProviderFailed
from commonplace.flows.learn.model_calls import ask_model
from commonplace.flows.stores import Session
from commonplace.identity.budgets import PersonBudgets, spent_by
from commonplace.identity.people import People, Person
from commonplace.identity.schema import SqliteIdentities
from commonplace.llm.base import Prompt
from commonplace.model import Actor
from commonplace.settings.load import load_settings
from tests.llm_server import MODEL, Answer, ModelScript, serving_models
from tests.memories import Calendar
from tests.stores import make_stores

SCHEMA = {"type": "object", "properties": {"action": {"type": "string"}}, "required": ["action"]}


@pytest.fixture
def server() -> Iterator[ModelScript]:
    """A model whose answers cost 1,500 tokens."""
    with serving_models(default=Answer({"action": "extend"}, tokens=(1000, 500))) as script:
        yield script


@pytest.fixture
def clock() -> Calendar:
    """A clock that stands still."""
    return Calendar()


@pytest.fixture
def people(tmp_path: Path, clock: Calendar) -> People:
    """Ada, who owns two vaults and may spend 9,000 tokens a day, and Ben, who writes in one of them."""
    people = People(SqliteIdentities(tmp_path / "identity.db"))
    people.add(Person("ada", "Ada", daily_tokens=9000), now=clock())
    people.add(Person("ben", "Ben", daily_tokens=0), now=clock())
    for name in ("garden", "office"):
        people.share(str(tmp_path / name), "ada", role="owner", now=clock())
    people.share(str(tmp_path / "garden"), "ben", role="writer", now=clock())
    return people


def session(folder: Path, vault: str, server: ModelScript, clock: Calendar, person: str = "") -> Session:
    """A session of somebody in one of the vaults."""
    root = folder / vault
    root.mkdir(exist_ok=True)
    given = {"llm.provider": "openai", "llm.base_url": server.openai, "llm.model": MODEL}
    models = make_models(load_settings(flags=given).settings.llm)
    models = replace(models, allowance=PersonBudgets(SqliteIdentities(folder / "identity.db"), str(root)))
    return Session(replace(make_stores(root, root, clock=clock), models=models), Actor("agent", "test", person), clock)


def ask(here: Session) -> str:
    """What becomes of one question."""
    try:
        ask_model("consolidate", (Prompt("user", "words"),), SCHEMA, here, prompt_version="consolidate.v1")
    except ProviderFailed as failure:
        return f"{failure.reason}: {failure.message}"
    return "answered"


def test_a_person_has_one_budget_over_all_their_vaults(
    tmp_path: Path, people: People, server: ModelScript, clock: Calendar
) -> None:
    """What one vault has spent is missing in the other; the next day there is a new budget."""
    garden, office = (session(tmp_path, vault, server, clock) for vault in ("garden", "office"))
    outcomes = [ask(here) for here in (garden, office, garden, office, garden, office)]
    asked = len(server.requests)
    spent = spent_by(SqliteIdentities(tmp_path / "identity.db"), "ada", at=clock())
    clock.pass_(days=1)

    assert "answered" in outcomes
    assert outcomes[-1].startswith("budget: ")
    assert "ada has spent" in outcomes[-1]
    assert asked == outcomes.count("answered")
    assert spent.tokens == asked * 1500 <= 9000
    assert ask(office) == "answered"


def test_who_asks_pays_and_not_the_owner_of_the_vault(
    tmp_path: Path, people: People, server: ModelScript, clock: Calendar
) -> None:
    """A member without a budget gets no answer in a vault whose owner still has one, and costs the owner nothing."""
    own, others = session(tmp_path, "garden", server, clock), session(tmp_path, "garden", server, clock, "ben")
    refused = ask(others)
    spent = spent_by(SqliteIdentities(tmp_path / "identity.db"), "ada", at=clock())

    assert "ben has spent 0 of 0 tokens" in refused
    assert spent.tokens == 0
    assert own.stores.history.spending(clock()).tokens == 0
    assert ask(own) == "answered"


def test_without_people_only_the_settings_limit_the_models(
    tmp_path: Path, server: ModelScript, clock: Calendar
) -> None:
    """No list of people is made by asking a model."""
    here = session(tmp_path, "garden", server, clock)

    assert ask(here) == "answered"
    assert not (tmp_path / "identity.db").exists()


def test_the_memory_of_a_vault_knows_the_budgets_of_its_people(tmp_path: Path) -> None:
    """Every memory that is opened on a folder asks the list of people of this user's daemon."""
    allowance = make_allowance(load_settings(flags={"vault.root": str(tmp_path)}).settings)

    assert isinstance(allowance, PersonBudgets)
