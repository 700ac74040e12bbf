"""`commonplace init`: make a folder of notes a vault, after showing what that means."""

import shlex
import signal
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any, Final, NoReturn

import typer

from commonplace.cli.invocation import Invocation, invocation_of, print_line
from commonplace.errors import Refused

if TYPE_CHECKING:
    from commonplace.app.registration import Initialised, InitPlan
    from commonplace.vault.git.baseline import LeftOut, LeftOutReason

_EXAMPLES: Final = 3  # names of left-out files to show of each kind
_YES: Final = ("y", "yes")
_NO: Final = ("n", "no")
WELCOME: Final = ("commonplace welcome", "tell your agents who you are, and import what is on this machine")
"""The offer with which `init` and `install` end: the command, and what it does."""
_NEXT: Final = (
    ('commonplace search "..."', "ask your notes a question"),
    ("commonplace sync", "index them by meaning too"),
    ("commonplace install claude-code", "give your agent this memory; --help lists the other hosts"),
    WELCOME,
)


def init(
    context: typer.Context,
    path: Annotated[
        Path | None,
        typer.Argument(
            metavar="[PATH]",
            help="The vault's folder, created if it does not exist, or postgresql:NAME. [default: the current folder]",
            show_default=False,
        ),
    ] = None,
    folders: Annotated[
        str | None,
        typer.Option(
            metavar="A,B",
            help="The folders in it that agents may write to. [default: proposed from the folders it has]",
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Change nothing; show what would be done.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Create or adopt a vault: put it under git and register it on this machine.

    No note is changed. The first commit takes your notes and other files, but no hidden files, no files that look like
    secrets, no folders such as node_modules, and no files over 10 MB that are not notes; with --dry-run, -v names all
    that is left out. A folder that is already under git stays as it is. A vault that you have moved is recognised by
    its history. Run it again with --folders to change where agents may write. postgresql:NAME is a vault whose notes
    are in the database of the setting postgresql.url; it has no folder.

    \b
    Examples:
      commonplace init ~/Notes
      commonplace init postgresql:team
      commonplace init ~/Notes --dry-run -v
      commonplace init ~/Notes --folders "Inbox,Journal,Projects"
    """
    from commonplace.app.registration import plan_init

    invocation = invocation_of(context)
    named = None if folders is None else [each for each in map(str.strip, folders.split(",")) if each]
    try:
        plan = plan_init(path or Path("."), flags=invocation.flags, folders=named)
        if dry_run:
            invocation.answer({"dry_run": True, **_shape(plan)}, lambda: _show_plan(plan, invocation))
            return
        done = _carry_out(invocation, plan, is_named=path is not None, yes=yes)
    except (KeyboardInterrupt, typer.Abort):
        invocation.inform("\nNothing was changed.")
        raise
    after = {"default": done.is_default, "next": [command for command, _ in _NEXT]}
    invocation.answer({**_shape(done.plan), **after}, lambda: _show_done(done))


def _carry_out(invocation: Invocation, plan: "InitPlan", *, is_named: bool, yes: bool) -> "Initialised":
    """Show the plan, let the person confirm it, and carry it out. Raises as `_confirmed` and `carry_out_init` do."""
    from commonplace.app.registration import carry_out_init

    if plan.git == "created" and not invocation.json:
        _show_baseline(plan, invocation)
    confirmed = _confirmed(invocation, plan, is_named=is_named, yes=yes)
    with _ended_by_signals():
        return carry_out_init(confirmed, then=lambda: _save_folders(confirmed))


def _confirmed(invocation: Invocation, plan: "InitPlan", *, is_named: bool, yes: bool) -> "InitPlan":
    """The plan as the person wants it. Raises Refused where a doubt needs an answer, Exit on a no."""
    can_ask = sys.stdin.isatty() and not invocation.json and not yes
    if plan.doubts or plan.is_replaced:
        _settle_doubts(invocation, plan, is_named=is_named, can_ask=can_ask, yes=yes)
    elif can_ask and (not plan.is_registered or plan.baseline.files):
        from commonplace.settings.database_vaults import shown_vault

        will = "become" if plan.root.is_dir() else "be created as"
        print_line(f"{shown_vault(plan.root)} will {will} a vault (git: {_git_text(plan)}).")
        _agreed(invocation, "Go on?", default=True)
    if can_ask and plan.folders_from == "layout" and not plan.is_registered:
        return plan.with_folders(_asked_folders(invocation, plan.folders))
    return plan


def _asked_folders(invocation: Invocation, proposed: Sequence[str]) -> Sequence[str]:
    """The folders that the person types; a yes takes the proposed ones. Raises Exit on a no."""
    print_line(
        "Agents write to the folder Agent, and may write to the folders below. Press Enter to accept, or type others."
    )
    typed = str(typer.prompt("Folders", default=", ".join(proposed))).strip()
    if typed.lower() in _NO:
        _leave(invocation)
    named = [each for each in map(str.strip, typed.split(",")) if each]
    return proposed if typed.lower() in _YES else named


def _settle_doubts(invocation: Invocation, plan: "InitPlan", *, is_named: bool, can_ask: bool, yes: bool) -> None:
    """Return if the person means this folder although it looks like no vault. Raises Refused, Exit on a no."""
    message, question, hint = _doubt_texts(plan)
    if is_named and can_ask:
        print_line(f"{message[0].upper()}{message[1:]}.")
        _agreed(invocation, question, default=False)
    elif not (is_named and yes):
        raise Refused(message, path=str(plan.root), hint=hint)


def _doubt_texts(plan: "InitPlan") -> tuple[str, str, str]:
    """What speaks against this folder, the question for a person, and the hint where nobody can be asked."""
    doubts = "; ".join(plan.doubts)
    if not plan.is_replaced:
        hint = "`commonplace init PATH --dry-run` shows what would be committed; `commonplace init PATH --yes` does it."
        return f"this folder does not look like a vault: {doubts}", "Make it one?", hint
    named = shlex.quote(str(plan.root))
    there = "another folder is where a vault was registered"
    if not plan.root.is_dir():
        there = "the folder of a registered vault no longer exists"
    return (
        f"{there}; {doubts}" if doubts else there,
        "Is this the same vault, and should it keep its conversations, history and index?",
        f"If you moved it: `commonplace vault move {named} NEW_FOLDER`. If its disk is not mounted, mount it. If this "
        f"is that vault, add --yes. For a new vault: `commonplace vault remove {named}` first.",
    )


def _agreed(invocation: Invocation, question: str, *, default: bool) -> None:
    """Return on a yes. Raises Exit on a no."""
    if not typer.confirm(question, default=default):
        _leave(invocation)


def _leave(invocation: Invocation) -> NoReturn:
    invocation.inform("Nothing was changed.")
    raise typer.Exit(1)


def _save_folders(plan: "InitPlan") -> None:
    """Keep the folders in the person's own settings for this vault, unless they are set or the default already."""
    if plan.sets_folders:
        from commonplace.hosts.own_settings import save_setting

        save_setting("safety.path_allowlist", plan.folders, vault=plan.root)


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Let a signal that ends the process end the block like Ctrl-C does, so that it can clean up."""

    def end(number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _show_plan(plan: "InitPlan", invocation: Invocation) -> None:
    if plan.git == "created":
        _show_baseline(plan, invocation)
    for doubt in plan.doubts:
        print_line(f"warning: {doubt}")
    if plan.is_replaced:
        print_line("warning: a vault was registered here, and this folder does not have its git history")
    _show_vault(plan)
    print_line("Nothing was changed.")


def _show_baseline(plan: "InitPlan", invocation: Invocation) -> None:
    """What the first commit takes and what it leaves out: with `-v` each path, else the first few."""
    baseline = plan.baseline
    if not baseline.files and not baseline.left_out:
        return
    size = _size_text(baseline.size)
    print_line(f"first commit: {_files_text(len(baseline.files))}, {baseline.notes:,} of them notes, {size}")
    for reason, title in _reason_titles(plan).items():
        left_out = [each for each in baseline.left_out if each.reason == reason]
        if left_out:
            folders = f"{len(left_out):,} folder{'' if len(left_out) == 1 else 's'}"
            files = folders if reason == "repository" else _files_text(sum(each.files for each in left_out))
            print_line(f"left out as {title}: {files} ({_names_text(left_out, all_of_them=invocation.verbose)})")
    if keys := baseline.notes_with_keys:
        number = "1 note holds" if len(keys) == 1 else f"{len(keys):,} notes hold"
        shown = ", ".join(keys if invocation.verbose else keys[:_EXAMPLES])
        more = "" if invocation.verbose or len(keys) <= _EXAMPLES else f" and {len(keys) - _EXAMPLES:,} more"
        print_line(
            f"{number} what looks like a key, and will be committed: {shown}{more}; if it is real, remove it first"
        )


def _show_done(done: "Initialised") -> None:
    from commonplace.settings.database_vaults import shown_vault

    plan = done.plan
    _show_vault(plan)
    if done.is_default:
        print_line("default: yes, commands that name no vault use it")
    else:
        command = f"commonplace vault use {shlex.quote(shown_vault(plan.root))}"
        default = shown_vault(done.default) if done.default else "none"
        print_line(f"default: no, that is {default}; `{command}` changes it")
    print_line("next:")
    for command, purpose in _NEXT:
        print_line(f"  {command:<33}{purpose}")


def _show_vault(plan: "InitPlan") -> None:
    from commonplace.settings.database_vaults import shown_vault

    print_line(f"vault: {shown_vault(plan.root)}")
    if plan.moved_from:
        print_line(f"moved: it was in {plan.moved_from}; its history, conversations and index follow")
    print_line(f"git: {_git_text(plan)}")
    print_line(f"data: {plan.data}")
    print_line(f"agents may write to: {', '.join(('Agent', *plan.folders))}")


def _git_text(plan: "InitPlan") -> str:
    """What happens with git, and in which repository the folder is."""
    from commonplace.settings.database_vaults import tenant_in

    if plan.git == "none":
        kept = ", and keeps every version" if tenant_in(plan.root) else ""
        return f"none, this storage backend does not use it{kept}"
    if plan.git == "adopted":
        inside = f", inside the repository {plan.outer}, where the commits of agents go" if plan.outer else ""
        return f"existing repository, left as it is{inside}"
    first = "the first commit above" if plan.baseline.files else "an empty first commit"
    inside = f", inside the repository {plan.outer}, which tracks no file of this folder" if plan.outer else ""
    return f"new repository, with {first}{inside}"


def _shape(plan: "InitPlan") -> dict[str, Any]:
    """The plan for programs."""
    from commonplace.settings.database_vaults import shown_vault

    baseline = plan.baseline
    return {
        "vault": shown_vault(plan.root),
        "name": plan.name,
        "git": plan.git,
        "inside_repository": str(plan.outer) if plan.outer else None,
        "data": str(plan.data),
        "commit": {"files": len(baseline.files), "notes": baseline.notes, "bytes": baseline.size},
        "left_out": [
            {"path": each.path, "reason": each.reason, "files": each.files, "bytes": each.size}
            for each in baseline.left_out
        ],
        "notes_with_keys": list(baseline.notes_with_keys),
        "folders": ["Agent", *plan.folders],
        "folders_from": plan.folders_from,
        "doubts": list(plan.doubts),
        "replaced": plan.is_replaced,
        "moved_from": str(plan.moved_from) if plan.moved_from else None,
        "registered_before": plan.is_registered,
    }


def _reason_titles(plan: "InitPlan") -> "dict[LeftOutReason, str]":
    return {
        "secret": "secret",
        "hidden": "hidden",
        "dependencies": "dependencies of programs",
        "large": f"larger than {plan.size_limit // 1_000_000} MB",
        "repository": "another repository, though search still finds its notes",
        "filtered": "in need of a git filter",
        "unreadable": "unreadable",
    }


def _names_text(left_out: "list[LeftOut]", *, all_of_them: bool) -> str:
    """All names, or the largest ones and how many more there are."""
    counts = Counter({each.path: each.size for each in left_out})
    names = [path for path, _ in counts.most_common(None if all_of_them else _EXAMPLES)]
    more = len(left_out) - len(names)
    return ", ".join(names) + (f" and {more:,} more" if more else "")


def _files_text(number: int) -> str:
    return f"{number:,} file{'' if number == 1 else 's'}"


def _size_text(size: int) -> str:
    for unit, bytes_ in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= bytes_:
            return f"{size / bytes_:.1f} {unit}"
    return f"{size} bytes"
