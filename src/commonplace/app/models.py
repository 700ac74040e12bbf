"""The language model of each task, as the settings name it; none unless they do. Nothing is asked here."""

import hashlib
import json
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Final

from commonplace.app.identities import make_identities
from commonplace.client.paths import Unreachable
from commonplace.errors import UsageError
from commonplace.flows.stores import ModelRoute, Models
from commonplace.identity.budgets import PersonBudgets
from commonplace.identity.people import people_who_share
from commonplace.llm.base import LanguageModel
from commonplace.llm.options import MOST_TOKENS, TIMEOUT_SECONDS, LlmOptions, Provider, Task, TaskOptions
from commonplace.settings.database_vaults import shown_vault
from commonplace.settings.schema import Settings

_KEY_VARIABLES: Final[dict[Provider, str]] = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}
_MAX_KEY_BYTES: Final = 4096


@dataclass(frozen=True, slots=True)
class _Connection:
    """Where the model of a task is: from the task's own block if that names a provider, else from `llm`."""

    provider: Provider
    base_url: str | None
    model: str | None
    key_env: str | None
    key_file: Path | None


def make_models(options: LlmOptions, *, allowance: PersonBudgets | None = None) -> Models:
    """The models that the options name; `allowance` has the budgets of the people who use the vault.

    Each model is made at first use; its key is read at each question.
    """

    @cache
    def made(task: Task, key: str | None) -> LanguageModel:
        own: TaskOptions = getattr(options, task)
        return _model(_connection(options, own), key, timeout=own.timeout_seconds or TIMEOUT_SECONDS[task])

    def route(task: Task) -> ModelRoute | None:
        own: TaskOptions = getattr(options, task)
        connection = _connection(options, own)
        if connection.provider == "none":
            return None
        model, missing, key = None, "", None
        try:
            key = _key(connection)
            model = made(task, key)
        except UsageError as error:
            missing = str(error)
        return ModelRoute(
            model=model,
            missing=missing,
            identity=_identity(connection, key),
            most_tokens=own.most_tokens or MOST_TOKENS[task],
            price_in=_price(own, own.price_in, options.price_in),
            price_out=_price(own, own.price_out, options.price_out),
            prompt_file=own.prompt_file,
        )

    return Models(route, options.daily_tokens, options.daily_dollars, allowance)


def make_allowance(settings: Settings) -> PersonBudgets | None:
    """The budgets of the people who use this vault; None for a vault without a folder or a user without a home."""
    root = settings.vault.root
    try:
        return PersonBudgets(make_identities(settings), shown_vault(root.resolve())) if root else None
    except Unreachable:
        return None


def make_members(settings: Settings) -> Callable[[], frozenset[str]]:
    """Gives the ids of the people who share the vault, as they are at each call; none for a vault without a folder."""
    root = settings.vault.root
    try:
        return partial(people_who_share, make_identities(settings), shown_vault(root.resolve())) if root else frozenset
    except Unreachable:
        return frozenset


def _connection(options: LlmOptions, own: TaskOptions) -> _Connection:
    """The settings of the server and its key all come from one block: no key goes to another block's server."""
    if own.provider:
        return _Connection(own.provider, own.base_url, own.model, own.key_env, own.key_file)
    return _Connection(
        options.provider, options.base_url, own.model or options.model, options.key_env, options.key_file
    )


def _price(own: TaskOptions, price: float | None, shared: float) -> float:
    """The task's own price; that of `llm` only for a model of the same server."""
    if price is not None:
        return price
    return 0.0 if own.provider else shared


def _model(connection: _Connection, key: str | None, *, timeout: float) -> LanguageModel:
    """The model on its server. Raises UsageError if the settings are not complete."""
    if not connection.model:
        raise UsageError("no model is named", hint="`commonplace settings set llm.model NAME`.")
    if connection.provider == "anthropic":
        from commonplace.llm import anthropic_api

        address = connection.base_url or anthropic_api.BASE_URL
        return anthropic_api.AnthropicModel(address, model=connection.model, key=key, timeout=timeout)
    from commonplace.llm import openai_api

    return openai_api.OpenAiModel(
        connection.base_url or openai_api.BASE_URL, model=connection.model, key=key, timeout=timeout
    )


def _key(connection: _Connection) -> str | None:
    """The key for the server; None if none is set and the server is not the provider's own. Raises UsageError."""
    if connection.key_file:
        return key_in_file(connection.key_file, hint="Correct llm.key_file, or its permissions.")
    variable = connection.key_env or ("" if connection.base_url else _KEY_VARIABLES[connection.provider])
    if not variable:
        return None
    if key := os.environ.get(variable, "").strip():
        return key
    hint = f"Set {variable}, or put the key into a file and `commonplace settings set llm.key_file FILE`."
    raise UsageError(f"the environment variable {variable} holds no key", hint=hint)


def key_in_file(file: Path, *, hint: str) -> str:
    """The key or password in a file that nobody else may read. Raises UsageError, with that hint."""
    try:
        opened = os.open(file, os.O_RDONLY | os.O_NONBLOCK)
        with open(opened, "rb") as content:
            mode = os.fstat(opened).st_mode
            key = content.read(_MAX_KEY_BYTES).decode(errors="replace").strip() if stat.S_ISREG(mode) else ""
    except OSError as error:
        message = f"the key file cannot be read: {error.strerror}"
        raise UsageError(message, path=str(file), hint=hint) from error
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        message = f"other users may read the key file {file}"
        raise UsageError(message, path=str(file), hint=f"`chmod 600 {file}`.")
    if not key:
        raise UsageError(f"the key file {file} holds no key", path=str(file), hint="Put the key alone into it.")
    return key


def _identity(connection: _Connection, key: str | None) -> str:
    """A hash of the server, the model and the key: with any other of them, earlier failures no longer count."""
    parts = [connection.provider, connection.base_url, connection.model, key]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:24]
