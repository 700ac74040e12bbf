"""The docs cannot lie: their commands run, their output is the real one, their links lead somewhere."""

import os
import re
import subprocess
import sys
from pathlib import Path
from shlex import quote

import pytest

import commonplace
from commonplace.app import copy_sample, put_under_git
from tests import components
from tests.warm import CODE, INTERPRETER, MODULE, warm_program
from tests.warm import DEMO as RUN_DEMO
from tools import docs as generated

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
GUIDE = sorted((ROOT / "docs/guide").glob("*.md"))
LIBRARY = ROOT / "docs/reference/library.md"
DEMO = "commonplace demo --into ~/sample-vault > /dev/null"
EVERY_PAGE = [*ROOT.glob("*.md"), *sorted((ROOT / "docs").rglob("*.md"))]
MARK = "=====next====="
PROGRAM = Path(sys.executable).parent / "commonplace"


def fenced(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)


def in_a_shell(script: str, *, home: Path | None = None) -> subprocess.CompletedProcess[str]:
    """What bash says to it, with a warm `commonplace`; all of it lies below `~`, as pages say."""
    path = os.pathsep.join([str(Path(warm_program()).parent), str(PROGRAM.parent), os.environ["PATH"]])
    others = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        capture_output=True,
        text=True,
        check=False,
        env={**others, "PATH": path, "HOME": str(home or others["HOME"])},
        cwd=home or others["HOME"],  # outside of this repository, whose project entries would belong to
    )


@pytest.fixture(scope="module")
def demo_vault(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the demo, with which every page begins, leaves behind; it ran from start to end."""
    components.require("model")
    home = tmp_path_factory.mktemp("demo")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COMMONPLACE_EMBEDDING__MODEL_FOLDER", str(components.MODEL_FOLDER))
        patch.setenv("COMMONPLACE_EMBEDDING__PROVIDER", "minilm-l6-v2")
        patch.setenv(INTERPRETER, warm_program(MODULE))
        run = in_a_shell(DEMO.partition(">")[0].replace("commonplace", warm_program(RUN_DEMO), 1), home=home)
    assert run.returncode == 0, run.stderr
    assert "Inbox/Broken import.md:2:" in run.stdout
    return home / "sample-vault"


def commands_with_output(page: Path) -> list[tuple[str, str]]:
    """Each `$ command` of a page's console blocks with the output shown below it."""
    shown: list[tuple[str, str]] = []
    for line in "".join(fenced(page, "console")).splitlines():
        if line.startswith("$ "):
            shown.append((line[2:], ""))
        else:
            shown[-1] = (shown[-1][0], f"{shown[-1][1]}{line}\n")
    return shown


@pytest.mark.usefixtures("real_model")
@pytest.mark.parametrize(
    "page", [page for page in (README, *GUIDE) if fenced(page, "console")], ids=lambda page: page.name
)
def test_the_commands_of_a_page_run_and_print_what_it_shows(page: Path, demo_vault: Path) -> None:
    """All in one shell, after a demo that has run before; where output is shown, it is the output.

    Whatever fails, no daemon is left.
    """
    steps = commands_with_output(page)
    before = f"trap '{PROGRAM} stop > /dev/null 2>&1 || true' EXIT\n" if page.name == "serving.md" else ""
    typed = [f"cp -Rp {quote(str(demo_vault))} ~" if command == DEMO else command for command, _ in steps]
    run = in_a_shell(before + f"\necho {MARK}\n".join(typed))

    assert run.returncode == 0, run.stderr
    printed = re.split(rf"{MARK}\n", run.stdout)
    whole = page == README
    assert [
        (c, text) for (c, shown), text in zip(steps, printed, strict=True) if (shown or whole) and shown != text
    ] == []


@pytest.mark.usefixtures("real_model")
@pytest.mark.parametrize(
    "page", [page for page in (README, *GUIDE, LIBRARY) if fenced(page, "python")], ids=lambda page: page.name
)
def test_the_python_of_a_page_runs(page: Path) -> None:
    """As a program, on the sample vault."""
    copy_sample(Path.home() / "sample-vault")
    put_under_git(Path.home() / "sample-vault")
    for program in fenced(page, "python"):
        run = subprocess.run([warm_program(CODE), program], capture_output=True, text=True, check=False)

        assert (run.returncode, run.stdout != "") == (0, True), run.stderr


def test_the_two_commands_of_the_readme_are_targets_of_make() -> None:
    """`make demo` and `make test` are what CI and newcomers type."""
    for target in re.findall(r"^make (\w+)", README.read_text(), re.MULTILINE):
        assert in_a_shell(f"make -C {quote(str(ROOT))} -n {target}").returncode == 0


def test_generated_pages_are_up_to_date() -> None:
    """Every command, setting and error is documented, because its page is made from the program."""
    stale = [path for path, text in generated.pages().items() if (ROOT / path).read_text() != text]

    assert stale == [], "run `make docs`"


def test_every_verb_and_every_public_name_is_on_the_page_of_the_library() -> None:
    """A program's author finds them there."""
    page = LIBRARY.read_text()
    calls = [
        f"`memory.{noun}(" if name == "__call__" else f"`memory.{noun}.{name}("
        for noun, owner in generated.nouns_of().items()
        for name, _ in generated.verbs_of(owner)
    ]

    assert len(calls) > 50
    assert [call for call in calls if call not in page] == []
    assert [name for name in commonplace.__all__ if not re.search(rf"`{name}\b|^### {name}$", page, re.M)] == []


def test_the_links_of_every_page_lead_somewhere() -> None:
    """Relative links to files and folders of the project."""
    broken = []
    for page in EVERY_PAGE:
        text = re.sub(r"^```.*?^```$|`[^`\n]*`", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
        targets = re.findall(r"\]\((?!https?:)([^)#]+)", text)
        broken += [(str(page.relative_to(ROOT)), target) for target in targets if not (page.parent / target).exists()]

    assert len(EVERY_PAGE) > 20
    assert broken == []
