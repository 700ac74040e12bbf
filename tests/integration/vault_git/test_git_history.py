"""History: which commits touched a note, which are ours, and three-way merges."""

import os
import subprocess
import time
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from commonplace.vault.git.commit import NewCommit
from commonplace.vault.git.conversion import plain_id
from commonplace.vault.git.repository import Repository
from commonplace.vault.git.run import Git
from tests.integration.vault_git.repositories import adopted, git, opened, put, write


def ours(repository: Repository, path: str, content: bytes | None, *, mutation: str = "0" * 32) -> str:
    trailers = (("Commonplace-Kind", "write"), ("Commonplace-Mutation", mutation))
    return repository.commit([NewCommit(f"commonplace: write {path}", trailers, {path: content})])[0]


def test_revisions_say_who_when_why_and_what(tmp_path: Path) -> None:
    """Newest first, each with its author, time, message, trailers and what it did to each path."""
    folder = adopted(tmp_path)
    repository = opened(folder)
    trailers = (("Commonplace-Kind", "write"), ("Commonplace-Actor", "agent"))
    files: dict[str, bytes | None] = {"a.md": b"2\n", "Inbox/ü.md": b"new\n"}
    before = datetime.now(UTC)
    commits = repository.commit([NewCommit("two things\n\nat once", trailers, files)])

    newest, first = repository.revisions(None, ours=False, limit=None)

    assert (newest.commit, newest.author, newest.message) == (commits[0], "Commonplace", "two things\n\nat once")
    assert newest.trailers == dict(trailers)
    assert newest.paths == {"a.md": "changed", "Inbox/ü.md": "added"}
    assert before - timedelta(seconds=1) < newest.when <= datetime.now(UTC)
    assert (first.author, first.message, first.trailers, first.paths) == ("Ada", "first", {}, {"a.md": "added"})


def test_changes_since_a_commit_are_those_of_merged_branches_too(tmp_path: Path) -> None:
    """Oldest first, with the blobs before and after; None for a commit that the branch does not contain."""
    folder = adopted(tmp_path)
    repository = opened(folder)
    first = repository.head()
    git(folder, "switch", "--quiet", "-c", "other")
    theirs = ours(repository, "b.md", b"b\n")
    git(folder, "switch", "--quiet", "-")
    mine = ours(repository, "a.md", b"2\n")
    git(folder, "merge", "--quiet", "--no-edit", "other")
    git(folder, "mv", "a.md", "c.md")
    git(folder, "commit", "--quiet", "--message=renamed")

    changes = repository.changes_since(first) or ()
    blobs = [blob for each in changes for blob in (*each.before.values(), *each.blobs.values())]

    assert {each.revision.commit for each in changes[:2]} == {theirs, mine}
    assert changes[2].revision.paths == {"a.md": "removed", "c.md": "added"}
    assert [*changes[2].before] == ["a.md"]
    assert None not in [*repository.read_blobs(blobs, largest=100)]
    assert repository.changes_since(repository.head()) == ()
    assert len(repository.changes_since(None) or ()) == 4
    assert repository.changes_since(theirs[::-1]) is None
    git(folder, "commit", "--quiet", "--amend", "--message=another")
    assert repository.changes_since(changes[2].revision.commit) is None


def test_only_a_real_trailer_makes_a_commit_ours(tmp_path: Path) -> None:
    """A person who quotes our trailer in a message has not made a commit of ours, nor hidden one."""
    folder = adopted(tmp_path)
    repository = opened(folder)
    mine = [ours(repository, "a.md", b"%d\n" % number) for number in range(3)]
    for number in range(3):
        message = f"--message=quote {number}\n\nCommonplace-Kind: write\n\nwas in it"
        git(folder, "commit", "--quiet", "--allow-empty", message)
        write(folder, "a.md", b"person %d\n" % number)
        git(folder, "commit", "--quiet", "--all", message)

    found = {limit: repository.revisions("a.md", ours=True, limit=limit) for limit in (0, 1, 2, None)}

    assert {limit: [each.commit for each in each_found] for limit, each_found in found.items()} == {
        0: [],
        1: mine[:1:-1],
        2: mine[:0:-1],
        None: mine[::-1],
    }
    assert len(repository.revisions(None, ours=False, limit=5)) == 5


def test_a_renamed_note_is_removed_here_and_added_there(tmp_path: Path) -> None:
    """No guessing of renames, whatever is configured."""
    folder = adopted(tmp_path)
    git(folder, "config", "diff.renames", "copies")
    repository = opened(folder)
    repository.commit([NewCommit("move", (), {"a.md": None, "b.md": b"one\n"})])

    (revision,) = repository.revisions("b.md", ours=False, limit=None)

    assert repository.revisions(None, ours=False, limit=1)[0].paths == {"a.md": "removed", "b.md": "added"}
    assert revision.paths == {"b.md": "added"}


def test_a_mutation_is_found_by_its_id(tmp_path: Path) -> None:
    """The trailer decides, not a mention in the text."""
    folder = adopted(tmp_path)
    repository = opened(folder)
    one, two = "1" * 32, "2" * 32
    commit = ours(repository, "a.md", b"1\n", mutation=one)
    repository.commit([NewCommit(f"about\n\nCommonplace-Mutation: {two}\n\nend", (("X", "y"),), {"a.md": b"2\n"})])

    assert repository.find_mutation(one) == commit
    assert repository.find_mutation(two) is None


SCISSORS = "# ------------------------ >8 ------------------------"


@pytest.mark.parametrize(
    "message", [f"x\n{SCISSORS}", f"x\n\nCommonplace-Actor: person\n{SCISSORS}\n\nend", "\x1e", "a: b"]
)
def test_a_message_can_neither_hide_nor_fake_our_trailers(tmp_path: Path, message: str) -> None:
    """Git's own reading ends at a line of scissors; ours is the last paragraph."""
    repository = opened(adopted(tmp_path))
    trailers = {"Commonplace-Kind": "write", "Commonplace-Actor": "agent", "Commonplace-Mutation": "7" * 32}
    commits = repository.commit([NewCommit(message, tuple(trailers.items()), {"a.md": b"2\n"})])

    (revision,) = repository.revisions(None, ours=True, limit=None)

    assert (revision.commit, revision.trailers) == (commits[0], trailers)
    assert revision.message == (message.strip() or "commonplace")
    assert repository.find_mutation("7" * 32) == commits[0]


@pytest.mark.parametrize("body", ["fix: typo", "first\n\nNote: prose\nthat goes on"])
def test_what_is_no_paragraph_of_trailers_belongs_to_the_message(tmp_path: Path, body: str) -> None:
    """A title that looks like a trailer, or prose that begins like one."""
    folder = adopted(tmp_path)
    git(folder, "commit", "--quiet", "--allow-empty", f"--message={body}")
    write(folder, "a.md", b"2\n")
    git(folder, "commit", "--quiet", "--all", f"--message={body}")

    revision, *_ = opened(folder).revisions(None, ours=False, limit=None)

    assert (revision.message, revision.trailers) == (body, {})


@pytest.mark.parametrize(
    "value", ["a  b.md", " a.md ", 'say "hi".md', '"', "\\", "", "ü\u00a0.md", "\udcff.md", "plain.md"]
)
def test_a_trailer_s_value_comes_back_as_it_was(tmp_path: Path, value: str) -> None:
    """Blanks and quotes in a path are part of its name; a name that is repeated has all of its values."""
    repository = opened(adopted(tmp_path))
    trailers = (("Commonplace-Kind", "move"), ("Commonplace-From", value), ("X", "1"), ("X", "2"))
    repository.commit([NewCommit("move", trailers, {"a.md": b"2\n"})])

    (revision,) = repository.revisions(None, ours=True, limit=None)

    assert revision.trailers == {"Commonplace-Kind": "move", "Commonplace-From": value, "X": "1\n2"}


@pytest.mark.parametrize("kind", ["fixed", "perl", "extended"])
def test_the_configuration_does_not_say_how_ours_are_found(tmp_path: Path, kind: str) -> None:
    """`grep.patternType = fixed` would take our pattern for plain text."""
    folder = adopted(tmp_path)
    git(folder, "config", "grep.patternType", kind)
    commit = ours(opened(folder), "a.md", b"2\n")

    assert [each.commit for each in opened(folder).revisions(None, ours=True, limit=None)] == [commit]


def test_many_notes_are_read_as_they_were_in_one_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Converted as a checkout would; how often git is started does not depend on how many there are."""
    folder = adopted(tmp_path)
    write(folder, ".gitattributes", b"*.txt text eol=crlf\n")
    repository = opened(folder)
    files: dict[str, bytes | None] = {f"{number} n.md": b"%d\n\n" % number for number in range(30)}
    commit = repository.commit([NewCommit("many", (), {**files, "x.txt": b"a\nb\n", "empty.md": b""})])[0]
    calls: list[str] = []
    start = Git.start

    def counted(self: Git, *words: str, settings: Iterable[str] = ()) -> "subprocess.Popen[bytes]":
        calls.append(words[0])
        return start(self, *words, settings=settings)

    monkeypatch.setattr(Git, "start", counted)
    wanted = [*files, "none.md", "x.txt", "empty.md"]
    found = repository.contents_at([(path, commit) for path in wanted])

    assert found == [*files.values(), None, b"a\r\nb\r\n", b""]
    assert len(calls) <= 3


def test_a_note_is_read_as_it_was(tmp_path: Path) -> None:
    """None when it was not there, when a folder was, or when there is no such commit."""
    folder = adopted(tmp_path)
    repository = opened(folder)
    first = repository.head() or ""
    second = put(repository, folder, "sub/a.md", b"\xff\x00\r\n")

    assert repository.content_at("a.md", first) == b"one\n"
    assert repository.content_at("sub/a.md", second) == b"\xff\x00\r\n"
    assert repository.content_at("sub/a.md", first) is None
    assert repository.content_at("sub", second) is None
    assert repository.content_at("a.md", "f" * 40) is None


def test_what_still_holds_a_note_counts_all_branches(tmp_path: Path) -> None:
    """For `erase`: the commits of every branch that changed the path, and the remotes."""
    folder = adopted(tmp_path)
    git(folder, "switch", "--quiet", "--create", "other")
    put(opened(folder), folder, "a.md", b"other\n")
    git(folder, "switch", "--quiet", "main")
    git(folder, "remote", "add", "backup", "ssh://example.org/x")

    assert opened(folder).held_by("a.md") == (2, ("backup",))
    assert opened(folder).held_by("none.md") == (0, ("backup",))
    assert opened(folder).held_by("none.md", "a.md") == (2, ("backup",))


BASE = b"one\ntwo\nthree\nfour\nfive\n"


def test_changes_in_different_places_are_merged(tmp_path: Path) -> None:
    """Both changes are in the result, and nothing else."""
    repository = opened(adopted(tmp_path))

    merge = repository.merge(base=BASE, ours=BASE.replace(b"one", b"ONE"), theirs=BASE.replace(b"five", b"FIVE"))

    assert (merge.content, merge.conflict) == (b"ONE\ntwo\nthree\nfour\nFIVE\n", None)


@pytest.mark.parametrize("mine", [b"\n", b"\r\n"])
@pytest.mark.parametrize("theirs", [b"\n", b"\r\n"])
def test_a_merge_is_in_the_line_ending_of_what_is_there_now(tmp_path: Path, mine: bytes, theirs: bytes) -> None:
    """A side that differs only in its line endings is no conflict."""
    repository = opened(adopted(tmp_path))
    now, other = BASE.replace(b"one", b"ONE"), BASE.replace(b"five", b"FIVE")

    merge = repository.merge(base=BASE, ours=now.replace(b"\n", mine), theirs=other.replace(b"\n", theirs))

    assert (merge.content, merge.conflict) == (b"ONE\ntwo\nthree\nfour\nFIVE\n".replace(b"\n", mine), None)


def test_a_conflict_shows_its_first_place(tmp_path: Path) -> None:
    """The text between the markers, and not the rest of the note."""
    folder = adopted(tmp_path)
    git(folder, "config", "merge.conflictStyle", "diff3")

    merge = opened(folder).merge(base=BASE, ours=BASE.replace(b"two", b"2"), theirs=BASE.replace(b"two", b"II"))

    assert merge.conflict == "<<<<<<< now\n2\n=======\nII\n>>>>>>> other\n"


def test_bytes_that_are_no_text_are_a_conflict(tmp_path: Path) -> None:
    """Git does not merge binary files: what is there now stays."""
    merge = opened(adopted(tmp_path)).merge(base=b"a\0", ours=b"b\0", theirs=b"c\0")

    assert (merge.content, merge.conflict) == (b"b\0", "the note contains bytes that are not text")


def test_maintenance_packs_what_has_gathered(tmp_path: Path) -> None:
    """When git finds it due, loose objects become a pack; our own calls never start it by themselves."""
    folder = adopted(tmp_path)
    git(folder, "config", "gc.auto", "1")
    repository = opened(folder)
    notes = [b"%d\n" % number for number in range(2000)]
    counted = [note for note in notes if repository.blob_id("n.md", note).startswith("17")]  # git counts in one folder
    for number, note in enumerate(counted):
        write(folder, f"n/{number}.md", note)
    git(folder, "-c", "gc.auto=0", "add", "--all")
    put(repository, folder, "a.md", b"two\n")
    assert list(folder.glob(".git/objects/pack/*.pack")) == []

    repository.maintain()

    assert len(list(folder.glob(".git/objects/pack/*.pack"))) == 1


@pytest.mark.parametrize("setting", ["now", "1.day.ago"])
def test_maintenance_never_prunes_what_is_new(tmp_path: Path, setting: str) -> None:
    """No branch has the objects of a write that is being made; a repository that says "prune now" does not end them."""
    folder = adopted(tmp_path)
    git(folder, "config", "gc.auto", "1")
    git(folder, "config", "gc.pruneExpire", setting)
    for number in range(2000):  # git counts the objects of one folder
        if (name := plain_id(b"%d\n" % number, "sha1")).startswith("17"):
            git(folder, "hash-object", "-w", "--stdin", stdin=f"{number}\n")
            unnamed = name
    two_days_ago = time.time() - 2 * 24 * 3600
    os.utime(folder / ".git/objects" / unnamed[:2] / unnamed[2:], (two_days_ago, two_days_ago))

    opened(folder).maintain()

    assert list(folder.glob(".git/objects/pack/*.pack")) != []
    assert git(folder, "cat-file", "-t", unnamed) == "blob\n"


ODD_NAMES = ("\x1e" + "a" * 40, "\n", "\nends\n", ":100644 100644 a b M", "A")


def test_a_file_name_cannot_hide_commits(tmp_path: Path) -> None:
    """Names that look like git's own output are names: every commit is there, with exactly its paths."""
    folder = adopted(tmp_path)
    for name in ODD_NAMES:
        write(folder, name)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message=odd")
    git(folder, "commit", "--quiet", "--allow-empty", "--message=empty")
    git(folder, "rm", "--quiet", "--", ODD_NAMES[0], ODD_NAMES[1])
    git(folder, "commit", "--quiet", "--message=last")
    repository = opened(folder)
    ids = git(folder, "rev-list", "--reverse", "HEAD").split()
    paths = [
        {"a.md": "added"},
        dict.fromkeys(ODD_NAMES, "added"),
        {},
        dict.fromkeys(ODD_NAMES[:2], "removed"),
    ]

    since = repository.changes_since(None)
    assert since is not None
    for changes in (since, repository.changes(after=None, until=ids[-1])):
        assert [each.revision.commit for each in changes] == ids
        assert [each.revision.paths for each in changes] == paths
    revisions = repository.revisions(None, ours=False, limit=None)
    assert [(each.commit, each.paths) for each in reversed(revisions)] == [
        (commit, changed) for commit, changed in zip(ids, paths, strict=True) if changed
    ]


ODD_DATES = {
    "X <x@y> 999999999999 +0000": datetime(9999, 12, 31, tzinfo=UTC),
    "X <x@y> 18446744073709551615 +0000": datetime.fromtimestamp(0, UTC),
    "X <x@y> 1700000000 +9999": datetime.fromtimestamp(1_700_000_000, UTC),
    "X <x@y> 1700000000 -2500": datetime.fromtimestamp(1_700_000_000, UTC),
    "X <x@y> 1700000000 -0330": datetime.fromtimestamp(1_700_000_000, UTC),
    "X <x@y> 253402300799 -2359": datetime(9999, 12, 31, tzinfo=UTC),
    "X <x@y> -5 +0000": datetime.fromtimestamp(0, UTC),
    "X <x@y> garbage": datetime.fromtimestamp(0, UTC),
    "X": datetime.fromtimestamp(0, UTC),
    "": datetime.fromtimestamp(0, UTC),
}


@pytest.mark.parametrize("who", ODD_DATES)
def test_an_odd_date_does_not_end_history(tmp_path: Path, who: str) -> None:
    """Imported histories have dates of any kind, or none: they count as 1970 or as the end of the year 9999."""
    folder = adopted(tmp_path)
    tree = git(folder, "rev-parse", "HEAD^{tree}").strip()
    people = f"author {who}\ncommitter {who}\n" if who else ""
    body = f"tree {tree}\n{people}\nodd\n"
    commit = git(folder, "hash-object", "-t", "commit", "-w", "--stdin", "--literally", stdin=body).strip()
    git(folder, "update-ref", "refs/heads/main", commit)
    repository = opened(folder)

    since = repository.changes_since(None)
    assert since is not None
    (last,) = since
    (revision,) = repository.revisions(None, ours=False, limit=None)
    assert repository.changes(after=None, until=commit) == since
    assert revision == last.revision
    assert revision.when == ODD_DATES[who]
    assert repository.history_begins() == revision.when.astimezone(UTC)
    assert [each.mtime for each in repository.list_at(commit, skip=None).files] == [revision.when.timestamp()]
    repository.commit_at(datetime.now(UTC))
    put(repository, folder, "b.md", b"two\n")
