"""Packages that are extras: what needs one says in a line which it is."""

import sys
import threading
from pathlib import Path

import pytest

from commonplace.app import encoders
from commonplace.daemon import serve
from commonplace.encoders.options import EmbeddingOptions
from commonplace.errors import ProviderFailed, UsageError
from commonplace.settings.harmless import SettingsWriter
from commonplace.vault.watch import start_watching


def test_without_the_extra_sense_search_goes_by_words_and_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no encoder, and the reason names the extra."""
    monkeypatch.setattr(encoders, "find_spec", lambda name: None)

    made = encoders.make_encoders(EmbeddingOptions())

    assert made.current is None
    assert "pip install 'commonplace-memory[sense]'" in made.missing


def test_without_the_extra_sense_no_model_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is downloaded that could not be used."""
    monkeypatch.setattr(encoders, "find_spec", lambda name: None)

    with pytest.raises(ProviderFailed, match="the model needs packages") as refused:
        encoders.install_model({}, name=None, source=None, progress=lambda stage, done, total: None)

    assert refused.value.hint == "pip install 'commonplace-memory[sense]'"


def test_without_the_extra_serve_no_daemon_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error comes before anything is locked or listened to."""
    monkeypatch.setattr(serve, "find_spec", lambda name: None)

    with pytest.raises(UsageError, match="the daemon needs packages") as refused:
        serve.serve(flags={}, ready=lambda state: None, writer=SettingsWriter(save=print, remove=print))

    assert refused.value.hint == "pip install 'commonplace-memory[serve]'"


def test_without_the_extra_serve_nothing_is_watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not retried: waiting does not install anything."""
    monkeypatch.setitem(sys.modules, "watchfiles", None)

    with pytest.raises(UsageError, match="watching a vault needs packages"):
        start_watching(str(tmp_path), threading.Event())
