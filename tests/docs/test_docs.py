"""The docs cannot lie: their commands run, their output is the real one, their links lead somewhere."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from shlex import quote

import pytest

from tests import components
from tools import docs as generated

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
GUIDE = sorted((ROOT / "docs/guide").glob("*.md"))
SERVING = ROOT / "docs/guide/serving.md"
EVERY_PAGE = [*ROOT.glob("*.md"), *sorted((ROOT / "docs").rglob("*.md"))]
MARK = "=====next====="
GENERATED = generated.pages()
PROGRAM = Path(sys.executable).parent / "commonplace"


def fenced(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)


def in_a_shell(script: str, *, program: Path = PROGRAM) -> subprocess.CompletedProcess[str]:
    """What bash says to it, with this program as `commonplace`; everything of it lies below `~`, as pages say."""
    path = os.pathsep.join([str(program.parent), str(PROGRAM.parent), os.environ["PATH"]])
    others = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        capture_output=True,
        text=True,
        check=False,
        env={**others, "PATH": path},
    )


@pytest.fixture(scope="module")
def demo_vault(quick: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the demo, with which every page begins, leaves behind."""
    components.require("model")
    home = tmp_path_factory.mktemp("demo")
    environ = {"PATH": os.environ["PATH"], "HOME": str(home)}
    environ["COMMONPLACE_EMBEDDING__MODEL_FOLDER"] = str(components.MODEL_FOLDER)
    subprocess.run([quick, "demo", "--into", home / "sample-vault"], check=True, capture_output=True, env=environ)
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


def assert_a_page_shows_what_is_printed(page: Path, *, before: str = "", program: Path = PROGRAM) -> None:
    """All of a page's commands, in one shell; where output is shown, it is the output."""
    steps = commands_with_output(page)
    run = in_a_shell(before + f"\necho {MARK}\n".join(command for command, _ in steps), program=program)

    assert run.returncode == 0, run.stderr
    printed = re.split(rf"{MARK}\n", run.stdout)
    whole = page == README
    assert [
        (c, text) for (c, shown), text in zip(steps, printed, strict=True) if (shown or whole) and shown != text
    ] == []


@pytest.mark.usefixtures("real_model")
def test_the_commands_of_the_readme_run_as_they_are_typed() -> None:
    """Every one of them is the installed program, the demo included."""
    assert_a_page_shows_what_is_printed(README)


@pytest.mark.usefixtures("real_model")
@pytest.mark.parametrize(
    "page", [page for page in GUIDE if page != SERVING and fenced(page, "console")], ids=lambda page: page.name
)
def test_the_commands_of_a_page_run_and_print_what_it_shows(page: Path, quick: Path, demo_vault: Path) -> None:
    """With a demo that has run before, and a program that starts at once."""
    assert_a_page_shows_what_is_printed(page, program=quick, before=with_the_demo_of(demo_vault))


@pytest.mark.usefixtures("real_model")
def test_the_commands_of_the_page_on_the_daemon_run_as_they_are_typed(demo_vault: Path) -> None:
    """After a demo that has run before; whatever fails, no daemon is left."""
    ending = f"trap '{PROGRAM} stop > /dev/null 2>&1 || true' EXIT\n"
    assert_a_page_shows_what_is_printed(SERVING, before=ending + with_the_demo_of(demo_vault))


def with_the_demo_of(vault: Path) -> str:
    """What lets a shell answer the first line of a page with a copy of what that line made before."""
    return f"""commonplace() {{
        if [ "$*" = "demo --into $HOME/sample-vault" ]; then cp -Rp {quote(str(vault))} ~
        else command commonplace "$@"; fi
    }}\n"""


@pytest.mark.usefixtures("real_model")
@pytest.mark.parametrize(
    "page", [page for page in (README, *GUIDE) if fenced(page, "python")], ids=lambda page: page.name
)
def test_the_python_of_a_page_runs(page: Path, demo_vault: Path) -> None:
    """As a program, on the sample vault."""
    shutil.copytree(demo_vault, Path.home() / "sample-vault", symlinks=True)
    for program in fenced(page, "python"):
        run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)

        assert (run.returncode, run.stdout != "") == (0, True), run.stderr


def test_the_two_commands_of_the_readme_are_targets_of_make() -> None:
    """`make demo` and `make test` are what CI and newcomers type."""
    for target in re.findall(r"^make (\w+)", README.read_text(), re.MULTILINE):
        assert in_a_shell(f"make -C {quote(str(ROOT))} -n {target}").returncode == 0


@pytest.mark.parametrize("path", sorted(GENERATED))
def test_a_generated_page_is_up_to_date(path: str) -> None:
    """Every command, setting and error is documented, because its page is made from the program."""
    assert (ROOT / path).read_text() == GENERATED[path], "run `make docs`"


@pytest.mark.parametrize("page", EVERY_PAGE, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_links_of_a_page_lead_somewhere(page: Path) -> None:
    """Relative links to files and folders of the project."""
    text = re.sub(r"^```.*?^```$|`[^`\n]*`", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", text)

    assert [target for target in targets if not (page.parent / target).exists()] == []
