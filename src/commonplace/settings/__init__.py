"""Settings: files, environment and flags fill the frozen options that each room declares for itself."""

from commonplace.settings.blocks import KNOBS, Knob, Settings
from commonplace.settings.load import Loaded, load_settings, person_file
from commonplace.settings.registered import Registered, register, registered, registry_file

__all__ = [
    "KNOBS",
    "Knob",
    "Loaded",
    "Registered",
    "Settings",
    "load_settings",
    "person_file",
    "register",
    "registered",
    "registry_file",
]
