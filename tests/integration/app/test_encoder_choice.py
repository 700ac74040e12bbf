"""Which encoder the settings name, and where its files are."""

from pathlib import Path
from typing import get_args, get_type_hints

import pytest

from commonplace.app.encoders import make_encoder, make_encoders, model_folder
from commonplace.encoders.models import MODELS
from commonplace.encoders.options import EmbeddingOptions
from tests.components import MODEL_FOLDER


def test_every_model_can_be_named_in_the_settings() -> None:
    """And nothing else but the three providers that are no model of ours."""
    names = get_args(get_type_hints(EmbeddingOptions)["provider"])

    assert names == (*MODELS, "http", "hashing", "none")


def test_models_lie_next_to_each_other(home: Path, tmp_path: Path) -> None:
    """In the data folder, or next to the folder that is named after one of them; any other folder is the model's."""
    default, beside, own = (
        model_folder(EmbeddingOptions(model_folder=each), "gte-small")
        for each in (None, tmp_path / "minilm-l6-v2", tmp_path / "mine")
    )

    assert default == home / "data/commonplace/models/gte-small"
    assert (beside, own) == (tmp_path / "gte-small", tmp_path / "mine")


@pytest.mark.needs("model")
@pytest.mark.needs("multilingual")
@pytest.mark.requirement("D-11")
def test_a_version_names_the_model_and_finds_it_again() -> None:
    """A model has a tag of its own; one that a person sets is stamped on the vectors of any model."""
    plain = EmbeddingOptions(provider="use-multilingual", model_folder=MODEL_FOLDER)
    tagged = EmbeddingOptions(provider="use-multilingual", model_folder=MODEL_FOLDER, version_tag="mine@2")
    encoders = [make_encoder(each) for each in (EmbeddingOptions(model_folder=MODEL_FOLDER), plain, tagged)]
    versions = [each.version for each in encoders if each]
    find = make_encoders(plain).for_version

    assert versions == ["minilm-l6-v2@2024-05+int8", "v3+use-multilingual-fp32", "mine@2+use-multilingual-fp32"]
    assert [(found.alias, found.version) for each in versions if (found := find(each))] == [
        ("minilm-l6-v2", versions[0]),
        ("use-multilingual", versions[1]),
        ("use-multilingual", versions[2]),
    ]
    assert find("2023-08+another-int8") is None
