"""The write flow: one order, one policy, nothing lost."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from commonplace.errors import CommonplaceError, Conflict, IndexDamaged, NotFound, Refused, VaultUnavailable
from commonplace.flows.ingest import index_notes
from commonplace.flows.ingest.documents import VAULT
from commonplace.flows.notes import write
from commonplace.flows.notes.history import undo_last
from commonplace.flows.notes.move import move_note
from commonplace.flows.notes.write import delete_note, write_note
from commonplace.flows.stores import IndexParts, Session
from commonplace.model import Note, Terms
from commonplace.notes import parse
from commonplace.policy.options import SafetyOptions
from commonplace.vault.base import version_of
from commonplace.vault.folder import VaultLock
from tests.stores import git, make_session, state

PLAIN = Terms()
STALE = Terms(expected=version_of(b"what nobody wrote"))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "Inbox").mkdir()
    (tmp_path / "Inbox/a.md").write_text(ANNOTATED.decode())
    (tmp_path / "Inbox/secret.md").write_text("---\nsensitive: true\n---\nhush\n")
    (tmp_path / "Journal.md").write_text("personal\n")
    return tmp_path


LARGE = b"x" * 2001
ANNOTATED = b"---\ntitle: A # mine\ntags: [x]\n---\nfirst\n"
BROKEN = b"---\na: [\n---\nbody\n"
SMALL = SafetyOptions(max_note_bytes=2000)


def held(session: Session, call: Callable[[], object]) -> None:
    """Make the call while somebody else holds the vault's lock."""
    with VaultLock(Path(session.stores.vault._tree.root)).hold(wait=1):  # type: ignore[attr-defined]
        call()


# (what fails first and what fails next, the call, the reason that must win)
PAIRS: dict[str, tuple[Callable[[Session], object], str]] = {
    "size before safe path": (lambda d: write_note("../x.md", LARGE, d, PLAIN), "too_large"),
    "safe path before policy": (lambda d: write_note("Nowhere/../x.md", b"", d, PLAIN), "path_escape"),
    "Markdown before policy": (lambda d: write_note("Nowhere/x.txt", b"", d, PLAIN), "not_markdown"),
    "policy before lock": (lambda d: held(d, lambda: write_note("Journal.md", b"", d, PLAIN)), "outside_allowlist"),
    "lock before version": (lambda d: held(d, lambda: write_note("Inbox/a.md", b"", d, STALE)), "locked"),
    "version before sensitivity": (lambda d: write_note("Inbox/secret.md", b"", d, STALE), "conflict"),
    "sensitivity before merge": (lambda d: write_note("Inbox/secret.md", BROKEN, d, PLAIN), "sensitive"),
    "merge before snapshot": (lambda d: write_note("Inbox/a.md", BROKEN, d, PLAIN), "refused"),
}


@pytest.mark.requirement("D-27", "D-28")
@pytest.mark.parametrize("pair", PAIRS)
def test_of_two_failures_the_earlier_wins_and_nothing_changed(root: Path, pair: str) -> None:
    """size, safe path, policy, lock, version, sensitivity, merge, snapshot: in this order."""
    session = make_session(root, actor="agent", safety=SMALL, wait=0.05)
    (root / "Inbox/a.md").write_text("---\ntitle: edited by a person\n---\n")
    before = state(root)
    call, reason = PAIRS[pair]

    with pytest.raises(CommonplaceError) as refused:
        call(session)

    assert refused.value.reason == reason
    assert state(root) == before


@pytest.mark.requirement("D-23", "D-43")
def test_a_write_is_one_commit_by_our_author_with_our_message(root: Path) -> None:
    """It returns the commit; the message names verb and path, and can be given."""
    session = make_session(root)
    first = write_note("Inbox/new.md", b"new\n", session, PLAIN)
    second = write_note("Inbox/new.md", b"newer\n", session, Terms(message="because"))

    assert (
        git(root, "log", "-1", "--format=%H %s", first.commit or "")
        == f"{first.commit} commonplace: write Inbox/new.md\n"
    )
    assert git(root, "log", "-1", "--format=%an <%ae> %s") == "Commonplace <commonplace@localhost> because\n"
    assert second.commit == git(root, "rev-parse", "HEAD").strip()
    assert git(root, "status", "--porcelain") == ""


@pytest.mark.requirement("D-32")
def test_incoming_keys_win_and_omitted_ones_survive_byte_for_byte(root: Path) -> None:
    """Key order, quoting and comments of the person stay."""
    write_note("Inbox/a.md", b"---\ntags: [y]\nnew: 1\n---\nsecond\n", make_session(root), PLAIN)

    assert (root / "Inbox/a.md").read_text() == "---\ntitle: A # mine\ntags: [y]\nnew: 1\n---\nsecond\n"


@pytest.mark.requirement("D-30", "D-37")
def test_a_stale_version_or_file_time_is_a_conflict(root: Path) -> None:
    """Both tokens, the same reason, nothing changed."""
    session = make_session(root)
    before = state(root)
    for terms in (STALE, Terms(expected_mtime=1.0), Terms(expected="absent")):
        with pytest.raises(Conflict):
            write_note("Inbox/a.md", b"x", session, terms)

    assert state(root) == before


@pytest.mark.requirement("D-30")
def test_the_right_version_and_file_time_pass(root: Path) -> None:
    """What was read is what is changed."""
    session = make_session(root)
    content, mtime = (root / "Inbox/a.md").read_bytes(), (root / "Inbox/a.md").stat().st_mtime
    write_note("Inbox/a.md", b"x\n", session, Terms(expected=version_of(content), expected_mtime=mtime))

    assert (root / "Inbox/a.md").read_text().endswith("---\nx\n")


def test_an_identical_write_is_no_commit(root: Path) -> None:
    """It returns the commit that holds it."""
    session = make_session(root)
    head = git(root, "rev-parse", "HEAD").strip()
    same = write_note("Inbox/a.md", (root / "Inbox/a.md").read_bytes(), session, PLAIN)

    assert (same.changed, same.commit) == (False, head)
    assert session.stores.history.entries() == ()


@pytest.mark.requirement("D-24", "D-39")
def test_a_deleted_note_is_gone_from_disk_and_kept_by_git(root: Path) -> None:
    """Also one that git had never seen; a note that is not there is missing."""
    session = make_session(root)
    (root / "Inbox/untracked.md").write_text("only on disk\n")
    delete_note("Inbox/untracked.md", session, PLAIN)

    assert not (root / "Inbox/untracked.md").exists()
    assert git(root, "show", "HEAD^:Inbox/untracked.md") == "only on disk\n"
    with pytest.raises(NotFound):
        delete_note("Inbox/untracked.md", session, PLAIN)


@pytest.mark.requirement("D-25", "D-37")
def test_a_move_onto_a_note_is_a_conflict(root: Path) -> None:
    """Both notes stay."""
    session = make_session(root)
    before = state(root)
    with pytest.raises(Conflict):
        move_note("Inbox/a.md", "Inbox/secret.md", session, PLAIN)

    assert state(root) == before


@pytest.mark.requirement("D-25")
def test_a_move_takes_the_links_along_in_one_commit(root: Path) -> None:
    """By name, by path, with alias and heading, in properties and tables, in Markdown form; code stays."""
    (root / "Inbox/links.md").write_text(
        '---\nabout: "[[a]]"\n---\n[[a]] [[Inbox/a|A]] [[a#H]] ![[a]] [m](a.md) `[[a]]`\n\n'
        "| x |\n|---|\n| [[a\\|t]] |\n"
    )
    session = make_session(root)
    count = int(git(root, "rev-list", "--count", "HEAD"))
    moved = move_note("Inbox/a.md", "Projects/b c.md", session, PLAIN)

    assert (root / "Inbox/links.md").read_text() == (
        '---\nabout: "[[b c]]"\n---\n[[b c]] [[b c|A]] [[b c#H]] ![[b c]] [m](../Projects/b%20c.md) `[[a]]`\n\n'
        "| x |\n|---|\n| [[b c\\|t]] |\n"
    )
    assert moved.repointed == ("Inbox/links.md",)
    assert int(git(root, "rev-list", "--count", "HEAD")) == count + 1
    assert git(root, "status", "--porcelain") == ""


def test_a_move_leaves_links_alone_that_still_lead_there(root: Path) -> None:
    """A bare name finds the note in its new folder; nothing else is rewritten."""
    (root / "Inbox/links.md").write_text("[[a]]\n")
    moved = move_note("Inbox/a.md", "Projects/a.md", make_session(root), PLAIN)

    assert moved.repointed == ()
    assert (root / "Inbox/links.md").read_text() == "[[a]]\n"


def test_the_moved_note_s_own_relative_links_still_lead_where_they_led(root: Path) -> None:
    """`[x](secret.md)` of the old folder is `../Inbox/secret.md` in the new one."""
    (root / "Inbox/a.md").write_text("[x](secret.md)\n")
    move_note("Inbox/a.md", "Projects/a.md", make_session(root), PLAIN)

    assert (root / "Projects/a.md").read_text() == "[x](../Inbox/secret.md)\n"


def test_an_agent_s_move_leaves_personal_notes_and_says_so(root: Path) -> None:
    """Policy holds for the links that follow, too."""
    (root / "Journal.md").write_text("[[a]]\n")
    moved = move_note("Inbox/a.md", "Inbox/b.md", make_session(root, actor="agent"), PLAIN)

    assert (moved.repointed, moved.left) == ((), ("Journal.md",))
    assert (root / "Journal.md").read_text() == "[[a]]\n"


def test_a_person_s_edit_is_kept_before_it_is_written_over(root: Path) -> None:
    """Their words are in a commit of their own, then ours."""
    session = make_session(root)
    write_note("Inbox/a.md", b"ours\n", session, PLAIN)
    (root / "Inbox/a.md").write_text("theirs, not committed\n")
    write_note("Inbox/a.md", b"ours again\n", session, PLAIN)

    assert git(root, "show", "HEAD^:Inbox/a.md") == "theirs, not committed\n"
    assert "Commonplace-Kind: snapshot" in git(root, "log", "-1", "--format=%B", "HEAD^")


@pytest.mark.requirement("D-31", "D-38")
@pytest.mark.parametrize("verb", ["write", "delete", "move"])
def test_a_sensitive_note_is_refused_to_programs_on_every_verb(root: Path, verb: str) -> None:
    """And nothing changed; the person themselves may."""
    calls: dict[str, Callable[[Session], object]] = {
        "write": lambda d: write_note("Inbox/secret.md", b"x", d, PLAIN),
        "delete": lambda d: delete_note("Inbox/secret.md", d, PLAIN),
        "move": lambda d: move_note("Inbox/secret.md", "Inbox/s.md", d, PLAIN),
    }
    session = make_session(root, actor="job")
    before = state(root)
    with pytest.raises(Refused) as refused:
        calls[verb](session)

    assert (refused.value.reason, state(root)) == ("sensitive", before)
    calls[verb](make_session(root))


@pytest.mark.requirement("A-08", "D-35")
def test_personal_notes_want_the_person_s_own_word(root: Path) -> None:
    """A person says so explicitly; an agent needs a grant for that path, which works once."""
    person = make_session(root)
    with pytest.raises(Refused, match="outside"):
        write_note("Journal.md", b"x\n", person, PLAIN)
    write_note("Journal.md", b"mine\n", person, Terms(personal=True))
    agent = make_session(root, actor="agent", history=person.stores.history)
    token = person.stores.history.give_grant("Journal.md", now=person.clock())

    with pytest.raises(Refused):
        write_note("Journal.md", b"x\n", agent, Terms(personal=True))
    assert write_note("Journal.md", b"granted\n", agent, Terms(grant=token)).changed
    with pytest.raises(Refused):
        write_note("Journal.md", b"again\n", agent, Terms(grant=token))


def test_low_autonomy_goes_to_the_inbox_and_the_answer_says_so(root: Path) -> None:
    """Under a name that cannot collide."""
    session = make_session(root, actor="agent", safety=SafetyOptions(autonomy="low"))
    first = write_note("Meetings/2026-01-01.md", b"one\n", session, PLAIN)
    second = write_note("Reviews/2026-01-01.md", b"two\n", session, PLAIN)

    assert first.path.startswith("Inbox/")
    assert (first.asked, first.path != second.path) == ("Meetings/2026-01-01.md", True)


def test_a_dry_run_shows_the_difference_and_changes_nothing(root: Path) -> None:
    """For write, delete and move."""
    session, dry = make_session(root), Terms(dry_run=True)
    before = state(root)
    written = write_note("Inbox/a.md", b"second\n", session, dry).difference or ""
    deleted = delete_note("Inbox/a.md", session, dry).difference or ""
    moved = move_note("Inbox/a.md", "Inbox/b.md", session, dry).difference or ""

    assert "-first\n+second\n" in written
    assert "+++ /dev/null" in deleted
    assert moved == "rename from Inbox/a.md\nrename to Inbox/b.md\n"
    assert state(root) == before


def test_every_change_is_in_the_audit_with_who_why_and_both_versions(root: Path) -> None:
    """One row for each note that was touched, under one commit."""
    session = make_session(root, actor="agent")
    before = version_of((root / "Inbox/a.md").read_bytes())
    done = write_note("Inbox/a.md", b"x\n", session, Terms(message="why"))
    (entry,) = session.stores.history.entries()

    assert (entry.verb, entry.path, entry.actor, entry.reason) == ("write", "Inbox/a.md", "agent", "why")
    assert (entry.before, entry.after, entry.commit) == (before, done.version, done.commit)
    assert entry.in_digest


def test_an_audit_that_fails_does_not_unwrite_the_note(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The change is done; the failure is an event, and git's trailers hold what is missing."""

    class Full:
        def record(self, *entries: object) -> None:
            raise VaultUnavailable("the disk is full")

    session = make_session(root, history=Full())  # type: ignore[arg-type]

    assert write_note("Inbox/n.md", b"x\n", session, PLAIN).changed
    assert "audit_failed" in capsys.readouterr().err
    assert undo_last(session, PLAIN)[0].changed


def test_an_agent_cannot_make_a_note_trusted_by_writing_over_it_or_moving_it(root: Path) -> None:
    """Both end in staging or in a refusal, also when the mark is only in the note that is there."""
    (root / "Agent/Memory/fix").mkdir(parents=True)
    (root / "Agent/Memory/fix/told.md").write_text("---\nsource: {trust: told}\n---\ntold\n")
    (root / "Agent/loaded.md").write_text("---\nalways_load: true\n---\nalways\n")
    agent = make_session(root, actor="agent")
    written = write_note("Agent/Memory/fix/told.md", b"---\nalways_load: true\n---\nwords\n", agent, PLAIN)

    assert written.path.startswith("Agent/Memory/_staging/")
    with pytest.raises(Refused, match="only entries"):
        write_note("Agent/Memory/fix/told.md", b"an agent's words\n", agent, PLAIN)
    assert (root / "Agent/Memory/fix/told.md").read_text().endswith("told\n")
    with pytest.raises(Refused):
        move_note("Agent/loaded.md", "Agent/Memory/fix/loaded.md", agent, PLAIN)


def test_a_grant_is_not_used_up_by_a_call_that_fails(root: Path) -> None:
    """A conflict leaves it for the next try; a dry run shows what it would let pass."""
    person = make_session(root)
    agent = make_session(root, actor="agent", history=person.stores.history)
    token = person.stores.history.give_grant("Journal.md", now=person.clock())
    with pytest.raises(Conflict):
        write_note("Journal.md", b"x\n", agent, replace(STALE, grant=token))

    assert write_note("Journal.md", b"x\n", agent, Terms(grant=token, dry_run=True)).difference
    assert write_note("Journal.md", b"x\n", agent, Terms(grant=token)).changed


def test_a_redirected_write_is_checked_where_it_lands(root: Path) -> None:
    """What a person closed in staging stays closed, and `absent` means absent there."""
    (root / "Agent/Memory").mkdir(parents=True)
    (root / "Agent/Memory/k.md").write_text("---\nalways_load: true\n---\nk\n")
    agent = make_session(root, actor="agent")
    staged = write_note("Agent/Memory/k.md", b"---\nalways_load: true\n---\none\n", agent, PLAIN).path
    (root / staged).write_text("---\nsensitive: true\n---\nmine now\n")
    low = make_session(root, actor="agent", safety=SafetyOptions(autonomy="low"))
    first = write_note("Meetings/m.md", b"one\n", low, Terms(expected="absent"))

    with pytest.raises(Refused, match="sensitive"):
        write_note("Agent/Memory/k.md", b"---\nalways_load: true\n---\ntwo\n", agent, PLAIN)
    with pytest.raises(Conflict):
        write_note("Meetings/m.md", b"two\n", low, Terms(expected="absent"))
    assert write_note("Meetings/m.md", b"two\n", low, Terms(expected=first.version)).changed


@pytest.mark.parametrize("message", ["bad \udc80", "{foo} {}", "{path.__class__}"])
def test_no_message_can_fail_a_change(root: Path, message: str) -> None:
    """Not a byte that is no text, and not a brace in the person's own template."""
    session = make_session(root)

    assert write_note("Inbox/m.md", b"x\n", session, Terms(message=message)).changed
    assert write_note(
        "Inbox/n.md", b"x\n", replace(session, stores=replace(session.stores, commit_message=message)), PLAIN
    ).changed
    assert len(session.stores.history.entries()) == 2


def test_frontmatter_that_is_never_closed_is_refused_on_either_side(root: Path) -> None:
    """It would swallow, or be swallowed by, the note."""
    (root / "Inbox/open.md").write_text("---\nkey: 1\ntext\n")
    session = make_session(root)
    before = state(root)
    for path, text in (("Inbox/a.md", b"---\nunclosed: 1\n"), ("Inbox/open.md", b"---\na: 1\n---\nx\n")):
        with pytest.raises(Refused, match="never closed"):
            write_note(path, text, session, PLAIN)

    assert state(root) == before


def test_a_note_is_parsed_once_before_and_once_after_a_write(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The index reuses what the write has parsed, if the file has just these bytes."""
    session = make_session(root)
    parsed: list[bytes] = []

    def counting(content: bytes, *, path: str, mtime: float) -> Note:
        parsed.append(content)
        return parse(content, path=path, mtime=mtime)

    monkeypatch.setattr(write, "parse", counting)
    monkeypatch.setattr(index_notes, "parse", counting)
    write_note("Inbox/new.md", b"new\n", session, PLAIN)
    created = [*parsed]
    parsed.clear()
    write_note("Inbox/new.md", b"newer\n", session, PLAIN)
    replaced = [*parsed]
    parsed.clear()
    write_note("Inbox/a.md", b"second\n", session, PLAIN)

    assert created == [b"new\n"]
    assert replaced == [b"newer\n", b"new\n"]
    assert parsed == [b"second\n", ANNOTATED, ANNOTATED.replace(b"first", b"second")]


def test_what_is_written_is_indexed_and_a_failing_index_does_not_fail_the_write(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The change is committed; the failure is an event, and the next sync mends the index."""
    session = make_session(root)
    write_note("Inbox/new.md", b"new\n", session, PLAIN)

    def no_index() -> IndexParts:
        raise IndexDamaged("the index cannot be read")

    broken = replace(session, stores=replace(session.stores, parts=no_index))
    changed = write_note("Inbox/other.md", b"other\n", broken, PLAIN)

    assert session.stores.index.stamp(VAULT, "Inbox/new.md")
    assert (changed.changed, session.stores.index.stamp(VAULT, "Inbox/other.md")) == (True, None)
    assert "ingest_failed" in capsys.readouterr().err
