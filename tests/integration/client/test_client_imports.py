"""The stdio door and everything else of the client cost a host next to nothing to start."""

import subprocess
import sys
from pathlib import Path

import commonplace.client

MODULES = sorted(path.stem for path in Path(commonplace.client.__file__).parent.glob("*.py"))


def test_the_client_is_made_of_the_standard_library_alone() -> None:
    """Nothing else of Commonplace, and nothing that has to be installed: hooks have 300 ms in all."""
    names = [f"commonplace.client.{stem}" for stem in MODULES if stem != "__init__"]
    program = ";".join(f"import {name}" for name in names) + "; import sys; print(*sys.modules)"
    bare = subprocess.run(
        [sys.executable, "-I", "-c", "import sys; print(*sys.modules)"], capture_output=True, text=True, check=True
    )
    ran = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True)
    loaded = {name for name in set(ran.stdout.split()) - set(bare.stdout.split()) if name.split(".")[0] != "encodings"}
    foreign = {name.split(".")[0] for name in loaded} - set(sys.stdlib_module_names) - {"commonplace"}

    assert foreign == set()
    assert {name for name in loaded if name.startswith("commonplace.")} == {"commonplace.client", *names}
