"""Every test runs in a home of its own, and says which rows it holds and which components it needs."""

from pathlib import Path

import pytest

from tests import components, run_length
from tests.polling import wait_for_one_day

pytest_plugins = ["pytester", "tests.suite"]

__all__ = ["run_length"]  # which sets the length of property tests


@pytest.fixture
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of the person in this test."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(autouse=True)
def _a_home_of_its_own(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees the settings, the state or the variables of the person who runs it."""
    for variable, folder in {
        "HOME": "",
        "XDG_CONFIG_HOME": "config",
        "XDG_STATE_HOME": "state",
        "XDG_DATA_HOME": "data",
        "XDG_CACHE_HOME": "cache",
    }.items():
        monkeypatch.setenv(variable, str(home / folder))
    for variable in components.variables_of_ours():
        monkeypatch.delenv(variable)
    monkeypatch.setenv("COMMONPLACE_EMBEDDING__MODEL_FOLDER", str(components.MODEL_FOLDER))
    monkeypatch.setenv("COMMONPLACE_EMBEDDING__PROVIDER", "hashing")  # loading the real model takes half a second


@pytest.fixture
def one_day() -> None:
    """Midnight does not fall into this test, whose programs have the real clock."""
    wait_for_one_day()


@pytest.fixture
def real_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """The encoder that comes with Commonplace, for tests that are about meaning."""
    components.require("model")
    monkeypatch.setenv("COMMONPLACE_EMBEDDING__PROVIDER", "minilm-l6-v2")


def pytest_runtest_setup(item: pytest.Item) -> None:
    for mark in item.iter_markers("needs"):
        components.require(mark.args[0])


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    """A fresh copy of the packaged sample vault."""
    from tests.vaults import sample_vault

    return sample_vault(tmp_path / "vault", git=False)
