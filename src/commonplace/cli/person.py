"""`commonplace person`: the people of a server, the vaults that they may use, and the codes by which they sign in."""

from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from commonplace.cli.completion import offer
from commonplace.cli.invocation import Invocation, invocation_of, local_time, print_line, print_table, show_help
from commonplace.cli.row_copies import DatabasePlace, answer_copy, require_no_daemon
from commonplace.cli.token import open_identities, open_tokens, registered_vault, vault_meant

if TYPE_CHECKING:
    from commonplace.identity.devices import Token
    from commonplace.identity.grants import OAuthGrant
    from commonplace.identity.people import People, Person, VaultMember

app = typer.Typer(
    help="Manage the people of this server: their vaults, limits and sign-in codes.",
    callback=show_help,
    invoke_without_command=True,
    rich_markup_mode=None,
)
_ROLES: Final = ("owner", "admin", "member", "reader")

PersonId = Annotated[str, typer.Argument(metavar="ID", help="The person's id, such as ada.")]
VaultFolder = Annotated[str, typer.Argument(metavar="VAULT", help="The folder or the name of a registered vault.")]
NewName = Annotated[str, typer.Option("--name", metavar="NAME", help="The person's name, as others read it.")]
NewRole = Annotated[
    str,
    typer.Option(
        "--role",
        metavar="|".join(_ROLES),
        help="Owners and admins see the server's status; readers change nothing.",
        autocompletion=offer(*_ROLES),
    ),
]
DailyTokens = Annotated[
    int | None, typer.Option(metavar="N", min=0, help="Tokens of language models that the person may use in a day.")
]
DailyDollars = Annotated[
    float | None, typer.Option(metavar="X", min=0, help="Dollars that language models may cost the person in a day.")
]
RequestRate = Annotated[
    float | None,
    typer.Option("--requests-per-second", metavar="X", min=0.01, help="Average requests of all their programs."),
]


@app.command("add")
def add(
    context: typer.Context,
    id: PersonId,
    name: NewName = "",
    role: NewRole = "member",
    daily_tokens: DailyTokens = None,
    daily_dollars: DailyDollars = None,
    rate: RequestRate = None,
) -> None:
    """Add a person; with --vault, that registered vault becomes theirs.

    \b
    Examples:
      commonplace person add ada --name "Ada Lovelace" --vault ~/vaults/ada
      commonplace person add charles --role reader --daily-dollars 0.5
    """
    from commonplace.identity.people import Person, parse_role

    invocation, now = invocation_of(context), datetime.now(UTC)
    vault, people = vault_meant(invocation), open_identities(invocation).people
    person = people.add(Person(id, name or id, parse_role(role), daily_tokens, daily_dollars, rate), now=now)
    if vault:
        people.share(vault, id, role="owner", now=now)
    _answer(invocation, people, person, "added")


@app.command("list")
def list_(context: typer.Context) -> None:
    """List the people, their roles, limits and vaults.

    \b
    Example:
      commonplace person list
    """
    from commonplace.app.identities import left_in_file, server_settings

    invocation = invocation_of(context)
    people = open_identities(invocation).people
    rows = [(person, people.vaults_of(person.id)) for person in people.list()]

    def show() -> None:
        print_table(["id", "name", "role", "vaults", "limits", "state"], [_row(*each) for each in rows])
        if not rows and not left_in_file(server_settings(invocation.flags)):
            invocation.inform("no people yet: `commonplace person add ID` adds one")

    invocation.answer({"count": len(rows), "people": [_shape(*each) for each in rows]}, show)


@app.command("show")
def show_person(context: typer.Context, id: PersonId) -> None:
    """Show a person: their vaults, limits, today's spending, and the devices and agents that act for them.

    \b
    Example:
      commonplace person show ada
    """
    invocation = invocation_of(context)
    people = open_identities(invocation).people
    _answer(invocation, people, people.require(id), "")


@app.command("set")
def set_(
    context: typer.Context,
    id: PersonId,
    name: NewName = "",
    role: NewRole = "",
    daily_tokens: DailyTokens = None,
    daily_dollars: DailyDollars = None,
    rate: RequestRate = None,
) -> None:
    """Change a person's name, role or limits; what is not named stays. It counts from the next request on.

    \b
    Examples:
      commonplace person set ada --daily-dollars 2
      commonplace person set charles --role member
    """
    from commonplace.identity.people import parse_role

    invocation = invocation_of(context)
    people = open_identities(invocation).people
    person = people.require(id)
    changed = people.save(
        replace(
            person,
            name=name or person.name,
            role=parse_role(role) if role else person.role,
            daily_tokens=person.daily_tokens if daily_tokens is None else daily_tokens,
            daily_dollars=person.daily_dollars if daily_dollars is None else daily_dollars,
            requests_per_second=person.requests_per_second if rate is None else rate,
        )
    )
    _answer(invocation, people, changed, "changed")


@app.command("remove")
def remove(context: typer.Context, id: PersonId) -> None:
    """Shut a person out: their tokens, sign-ins and memberships end at once; their vaults stay on the disk.

    The id is not given to anybody else, because the history of the vaults names it.

    \b
    Example:
      commonplace person remove charles
    """
    invocation, now = invocation_of(context), datetime.now(UTC)
    people = open_identities(invocation).people
    person = people.remove(id, now=now)
    tokens = open_tokens(invocation).revoke_all(person=id, now=now)

    def show() -> None:
        print_line(f"removed: {person.id} ({person.name}); {len(tokens)} tokens revoked")

    invocation.answer({**_shape(person, ()), "revoked_tokens": len(tokens)}, show)


@app.command("invite")
def invite(
    context: typer.Context,
    id: PersonId,
    minutes: Annotated[int, typer.Option(min=1, max=10080, help="How long the code is valid.")] = 60,
) -> None:
    """Print a code and a link by which the person signs in once, in their own browser.

    There are no passwords. A program that connects with OAuth sends the person's browser to a page that asks for it.

    \b
    Examples:
      commonplace person invite ada
      commonplace person invite ada --minutes 1440 --json
    """
    invocation = invocation_of(context)
    code = open_identities(invocation).people.invite(id, now=datetime.now(UTC), life=timedelta(minutes=minutes))
    link = _sign_in_link(code, invocation)

    def show() -> None:
        print_line(code)
        if link:
            print_line(link)
        which = "either" if link else "it"
        invocation.inform(f"{which} works once, within {minutes} minutes; give it to {id} on a private channel")

    invocation.answer({"person": id, "code": code, "url": link or None, "minutes": minutes}, show)


@app.command("share")
def share(
    context: typer.Context,
    vault: VaultFolder,
    id: PersonId,
    role: Annotated[
        str,
        typer.Option(
            metavar="owner|writer|reader",
            help="What they may do there; a vault has one owner.",
            autocompletion=offer("owner", "writer", "reader"),
        ),
    ] = "reader",
) -> None:
    """Let a person use a vault; what each of them writes there names them. Nothing is shared without it.

    \b
    Examples:
      commonplace person share garden charles
      commonplace person share ~/vaults/garden ada --role writer
    """
    from commonplace.identity.people import parse_vault_role

    invocation = invocation_of(context)
    people = open_identities(invocation).people
    root, chosen = registered_vault(vault, invocation), parse_vault_role(role)
    member = people.share(root, id, role=chosen, now=datetime.now(UTC))
    invocation.answer(asdict(member), lambda: print_line(f"{id} is {role} of {member.vault}"))


@app.command("unshare")
def unshare(context: typer.Context, vault: VaultFolder, id: PersonId) -> None:
    """Take a vault from a person; their tokens for it end at once. What they wrote there stays.

    \b
    Example:
      commonplace person unshare garden charles
    """
    invocation, now = invocation_of(context), datetime.now(UTC)
    people = open_identities(invocation).people
    root = registered_vault(vault, invocation)
    member = people.unshare(root, id, now=now)
    open_tokens(invocation).revoke_all(person=id, vault=root, now=now)
    invocation.answer(asdict(member), lambda: print_line(f"{id} may not use {member.vault} any more"))


@app.command("copy")
def copy(
    context: typer.Context,
    to: Annotated[DatabasePlace, typer.Option("--to", help="Where to copy them; the other place is left as it is.")],
    replace_: Annotated[bool, typer.Option("--replace", help="Replace the people who are there.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be copied, and copy nothing.")] = False,
) -> None:
    """Copy everybody from the files of the daemon's folder to PostgreSQL, or back.

    Roles, limits, members of vaults, what was spent, OAuth grants, and the tokens of devices, which work on. Nothing is
    copied if one row could not be. The setting identity.backend says which of the two is used.

    \b
    Examples:
      commonplace person copy --to postgresql --dry-run
      commonplace person copy --to postgresql
      commonplace person copy --to sqlite --replace
    """
    from commonplace.app.identities import copy_people, server_settings
    from commonplace.daemon.service.state_files import make_daemon_folders, user_daemon_files
    from commonplace.daemon.tokens import TokenFile

    invocation, files = invocation_of(context), user_daemon_files()
    if not dry_run:
        require_no_daemon()
    make_daemon_folders(files)
    settings = server_settings(invocation.flags)
    copied = copy_people(settings, token_file=TokenFile(files.tokens), to=to.value, replaces=replace_, is_dry=dry_run)
    here = copied.folders if to is DatabasePlace.POSTGRESQL else ()
    answer_copy(
        invocation,
        copied,
        to=to,
        setting="identity.backend",
        used=settings.identity.backend,
        same=f"the people in {to.value} are the same already",
        dry_run=dry_run,
        notices=[f"only this machine has the vault {folder}; other daemons cannot serve it" for folder in here],
        folders=[*copied.folders],
    )


def _sign_in_link(code: str, invocation: Invocation) -> str:
    """The link by which a person signs in with that code; empty if no server is set up or running."""
    from commonplace.app.identities import server_settings
    from commonplace.daemon.service.state_files import running_daemon, user_daemon_files

    state = running_daemon(user_daemon_files())
    public = server_settings(invocation.flags).serve.public_url
    base = public.rstrip("/") if public else state.url if state else ""
    return f"{base}/login?code={code}" if base else ""


def _answer(invocation: Invocation, people: "People", person: "Person", done: str) -> None:
    """Answer with the person and everything that belongs to them."""
    vaults, members = people.vaults_of(person.id), {}
    for each in vaults:
        members[each.vault] = [asdict(member) for member in people.members(each.vault)]
    devices, spent = _devices(invocation, person.id), _spent(invocation, person.id)

    def show() -> None:
        print_line(f"{done}: {person.id}" if done else person.id)
        print_line(f"name      {person.name}")
        print_line(f"role      {person.role}")
        print_line(f"limits    {_limits(person)}")
        for each in vaults:
            others = ", ".join(f"{m['person']} ({m['role']})" for m in members[each.vault] if m["person"] != person.id)
            print_line(f"vault     {each.vault} ({each.role}){f'; shared with {others}' if others else ''}")
        for device in devices:
            used = f"used {local_time(device['last_used']) or 'never'}"
            print_line(f"device    {device['client']} ({device['kind']} {device['id']}), {used}")
        print_line(f"today     {spent['tokens']:,} tokens, ${spent['cost']:.4f}")

    invocation.answer({**_shape(person, vaults), "members": members, "devices": devices, "spent_today": spent}, show)


def _devices(invocation: Invocation, person: str) -> list[dict[str, Any]]:
    """What acts for the person now: tokens that were made by hand, and programs that the person allowed by OAuth."""
    tokens = [each for each in open_tokens(invocation).list() if each.person == person]
    grants = open_identities(invocation).grants.list(person)
    rows: list[tuple[str, str, Token | OAuthGrant]] = [
        *(("token", each.client, each) for each in tokens),
        *(("oauth", each.name, each) for each in grants),
    ]
    return [
        {
            "id": each.id,
            "client": client,
            "kind": kind,
            "scopes": [*each.scopes],
            "vault": each.vault or None,
            "last_used": each.last_used or None,
        }
        for kind, client, each in rows
        if not each.revoked
    ]


def _spent(invocation: Invocation, person: str) -> dict[str, Any]:
    from commonplace.identity.budgets import spent_by

    return asdict(spent_by(open_identities(invocation).database, person, at=datetime.now(UTC)))


def _shape(person: "Person", vaults: "tuple[VaultMember, ...]") -> dict[str, Any]:
    values = {**asdict(person), "removed": person.removed or None}
    return {**values, "vaults": [{"vault": each.vault, "role": each.role} for each in vaults]}


def _row(person: "Person", vaults: "tuple[VaultMember, ...]") -> list[str]:
    from commonplace.identity.people import short_name

    named = ", ".join(f"{short_name(each.vault)} ({each.role})" for each in vaults) or "none"
    state = f"removed {person.removed}" if person.removed else "active"
    return [person.id, person.name, person.role, named, _limits(person), state]


def _limits(person: "Person") -> str:
    parts = [
        f"{person.daily_tokens:,} tokens a day" if person.daily_tokens is not None else "",
        f"${person.daily_dollars:.2f} a day" if person.daily_dollars is not None else "",
        f"{person.requests_per_second:g} requests/s" if person.requests_per_second is not None else "",
    ]
    return ", ".join(filter(None, parts)) or "those of the settings"
