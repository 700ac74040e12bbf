"""What `import commonplace` offers, and what it costs."""

import json
import subprocess
import sys

import commonplace


def test_every_public_name_can_be_had() -> None:
    """A name in `__all__` is there."""
    assert all(getattr(commonplace, name) is not None for name in commonplace.__all__)


def test_a_name_that_is_not_there_says_so() -> None:
    """A typo is an AttributeError, not a puzzle."""
    assert not hasattr(commonplace, "open_memroy")


def test_importing_the_package_loads_nothing_else() -> None:
    """`import commonplace` costs next to nothing: no module of ours but itself, and no library."""
    code = "import sys, json; old = set(sys.modules); import commonplace; print(json.dumps([*set(sys.modules) - old]))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = json.loads(run.stdout)

    assert [name for name in loaded if name.split(".")[0] not in sys.stdlib_module_names] == ["commonplace"]


def test_what_the_verbs_give_back_can_be_imported() -> None:
    """A caller can name the types of hits, answers, facts, entries and contexts."""
    values = {"Answer", "Context", "EntryResult", "Fact", "FactSnapshot", "Hit", "Note", "SearchRequest"}

    assert values <= {*commonplace.__all__}
    assert {name for name in values if getattr(commonplace, name).__name__ != name} == set()
