"""The first visit: vault, model, you, agents, import; each step says what it does, or gives its command."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from fastapi import APIRouter, Request, Response

from commonplace.app.encoders import model_statuses
from commonplace.app.import_sources import hosts_on_this_machine, import_commands
from commonplace.memory import Memory
from commonplace.memory.welcome import PREFERENCE_QUESTION, QUESTIONS, WelcomeAnswers
from commonplace.model.text import counted
from commonplace.web.page.view import PageForm, PageMemory, page_host, page_memory, page_session, redirect, render

_READS: Final = "Reads what is new and changed in your folder of notes into the index. No note is changed."
_RUNS_HERE: Final = "The encoder runs on this machine, and no text leaves it."
router = APIRouter()


@dataclass(frozen=True, slots=True)
class WelcomeStep:
    """One step: whether it is done, what it does, and the commands that do it where the page cannot."""

    name: Literal["vault", "model", "you", "hosts", "import"]
    title: str
    is_done: bool
    state: str
    does: str
    commands: tuple[str, ...] = ()


@router.get("/welcome")
def show_welcome(request: Request) -> Response:
    """Every step with its state."""
    memory = page_memory(request, page_session(request)) if page_host(request).vaults() else None
    heard = [each["host"] for each in page_host(request).status().get("hooks", ())]
    known = memory.welcome.known() if memory else WelcomeAnswers()
    steps = [_vault_step(memory), _model_step(memory), _person_step(known), _hosts_step(heard), _import_step(memory)]
    return render(
        request,
        "welcome.html",
        title="Welcome",
        steps=steps,
        questions=[(each.name, each.question, getattr(known, each.name)) for each in QUESTIONS],
        preference_question=PREFERENCE_QUESTION,
        preferences=known.preferences,
        has_vault=memory is not None,
    )


@router.post("/welcome/you")
def save_answers(request: Request, memory: PageMemory, form: PageForm) -> Response:
    """Save what the person tells about themselves; empty answers change nothing."""
    answers = {each.name: form.text(each.name) for each in QUESTIONS}
    preferences = tuple(line.strip() for line in form.raw("preferences").splitlines() if line.strip())
    saved = memory.welcome.save(WelcomeAnswers(**answers, preferences=preferences))
    new = sum(each.action != "confirm" for each in saved)
    said = f"Saved {counted(new, 'answer')} as your own word." if new else "Nothing new: what you answered is known."
    return redirect(request, "/welcome", said)


@router.post("/welcome/sync")
def sync(request: Request, memory: PageMemory, form: PageForm) -> Response:
    """Bring the index up to date with the notes."""
    report = memory.index.sync()
    return redirect(request, "/welcome", f"Indexed: {report.added} new, {report.changed} changed.")


def _vault_step(memory: Memory | None) -> WelcomeStep:
    does = "Puts your folder of notes under git and adds it to the list of vaults. No note is changed."
    if memory is None:
        commands = ("commonplace init ~/Notes --dry-run", "commonplace init ~/Notes")
        return WelcomeStep("vault", "Your notes", is_done=False, state="No vault yet.", does=does, commands=commands)
    notes = memory.index.stats().documents.get("vault", 0)
    folder = memory.conversations.vault_folder
    state = (
        f"{counted(notes, 'note')} can be found." if notes else f"There is no note in `{folder}` yet: write one there."
    )
    return WelcomeStep("vault", "Your notes", is_done=bool(notes), state=state, does=_READS)


def _model_step(memory: Memory | None) -> WelcomeStep:
    does = f"Downloads a small encoder once (90 MB). {_RUNS_HERE}"
    mode, without = memory.index.readiness() if memory else ("words", "")
    if mode != "words":
        return WelcomeStep(
            "model", "Search by meaning", is_done=True, state="Search by words and by meaning.", does=_RUNS_HERE
        )
    statuses, used = model_statuses({})
    is_installed = used in [each.model.name for each in statuses if each.installed]
    state = (without or "The encoder is installed.") if is_installed else "Search finds words so far, not meaning."
    commands = () if is_installed else ("commonplace model install",)
    return WelcomeStep("model", "Search by meaning", is_done=not commands, state=state, does=does, commands=commands)


def _person_step(known: WelcomeAnswers) -> WelcomeStep:
    state = f"Agents know you as {known.name}." if known.name else "Agents do not know you yet."
    does = "Saves your answers as your own word; agents get them in every session. What you leave empty stays as it is."
    return WelcomeStep("you", "You", is_done=bool(known.name), state=state, does=does)


def _hosts_step(heard: Sequence[str]) -> WelcomeStep:
    """`heard` are the hosts whose hooks have called the daemon."""
    hosts = hosts_on_this_machine(Path.home())
    names = [host.name for host in hosts] or ["claude-code"]
    state = f"On this machine: {', '.join(host.title for host in hosts)}." if hosts else "No agent was found here."
    if heard:
        state = f"Connected: {', '.join(heard)}."
    does = "Adds an MCP server, hooks and skills to your agent's files; with --dry-run it only shows each change."
    commands = tuple(f"commonplace install {name}{flag}" for name in names for flag in (" --dry-run", ""))
    return WelcomeStep("hosts", "Your agents", is_done=bool(heard), state=state, does=does, commands=commands)


def _import_step(memory: Memory | None) -> WelcomeStep:
    does = "Reads what you told other programs, to learn from it later; with --dry-run it only counts what is there."
    found = import_commands(Path.home(), looks_in_downloads=False)
    state = (
        "Transcripts of agents were found on this machine."
        if found
        else "No transcripts were found on this machine. Export your data from ChatGPT or Claude, and name the file."
    )
    named = found or ("commonplace import ~/Downloads/export.zip",)
    commands = tuple(f"{each}{flag}" for each in named for flag in (" --dry-run", ""))
    is_done = bool(memory and memory.conversations.list(limit=1))
    if is_done:
        state = f"Conversations are in your memory already. {state if found else 'To add others, name a file of them.'}"
    return WelcomeStep(
        "import", "What you told other programs", is_done=is_done, state=state, does=does, commands=commands
    )
