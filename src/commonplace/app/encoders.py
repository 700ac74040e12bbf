"""The encoder that the settings name: one branch for each provider."""

import os
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path

import platformdirs

from commonplace.encoders.base import EncoderProvider
from commonplace.encoders.options import EmbeddingOptions
from commonplace.errors import ProviderFailed, UsageError
from commonplace.flows.shelf import Encoders

MODEL = "minilm-l6-v2"

MakeEncoders = Callable[[EmbeddingOptions], Encoders]


def make_encoders(options: EmbeddingOptions) -> Encoders:
    """The encoder to work with, or why there is none. Nothing is loaded before it is used."""

    @cache
    def for_version(version: str) -> EncoderProvider | None:
        return current if current and current.version == version else _of_version(version, options)

    try:
        current, missing = make_encoder(options), ""
    except ProviderFailed as failure:
        current, missing = None, str(failure)
    if options.provider == "none":
        missing = "no encoder is set: embedding.provider = none"
    return Encoders(current, missing, for_version, is_wanted=options.provider != "none", warm=_warming(current))


def _warming(encoder: EncoderProvider | None) -> Callable[[], bool]:
    """Loads the encoder in a thread of its own, once, and says whether that is still going on."""
    begun: list[threading.Thread] = []
    turn = threading.Lock()

    def load() -> None:
        with suppress(ProviderFailed):  # whoever uses it next is told
            if encoder:
                encoder.encode(["ready"])

    def warm() -> bool:
        with turn:
            if encoder and not begun:
                begun.append(threading.Thread(target=load, name="load-encoder", daemon=True))
                begun[0].start()
        return any(each.is_alive() for each in begun)

    return warm


def make_encoder(options: EmbeddingOptions) -> EncoderProvider | None:
    """The encoder of these settings; None when they want none. Raises ProviderFailed when it is not to be had."""
    if options.provider == MODEL:
        from commonplace.encoders.minilm import MiniLM

        return MiniLM(
            model_folder(options), variant=options.variant, tag=options.version_tag, max_tokens=options.max_tokens
        )
    if options.provider == "http":
        return _http(options)
    if options.provider == "hashing":
        from commonplace.encoders.hashing import HashingEncoder

        return HashingEncoder(options.dim)
    return None


def model_folder(options: EmbeddingOptions) -> Path:
    """Where the weights are, for all vaults of this user."""
    return options.model_folder or platformdirs.user_data_path("commonplace") / "models" / MODEL


def _http(options: EmbeddingOptions) -> EncoderProvider:
    from commonplace.encoders.http import HttpEncoder

    if not options.endpoint or not options.remote_model:
        raise UsageError(
            "the http encoder wants an endpoint and a model",
            hint="Set embedding.endpoint and embedding.remote_model in your own settings file.",
        )
    key = os.environ.get(options.key_env) if options.key_env else None
    return HttpEncoder(
        options.endpoint,
        model=options.remote_model,
        key=key,
        dim=options.dim,
        version=f"{options.version_tag}+{options.remote_model}-{options.dim}",
        max_tokens=options.max_tokens,
    )


def _of_version(version: str, options: EmbeddingOptions) -> EncoderProvider | None:
    """An encoder whose vectors an index still has, where this machine has it."""
    from commonplace.encoders.hashing import HashingEncoder
    from commonplace.encoders.minilm import VARIANTS, MiniLM

    tag, _, variant = version.rpartition("+")
    if version == HashingEncoder(options.dim).version:
        return HashingEncoder(options.dim)
    if variant not in VARIANTS:
        return None
    try:
        return MiniLM(model_folder(options), variant=variant, tag=tag, max_tokens=options.max_tokens)
    except ProviderFailed:
        return None
