"""Laws of export and import: no byte of any note of any revision differs between a database and git."""

import shutil
import subprocess
from pathlib import Path
from tempfile import mkdtemp

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commonplace.app.vault_transfer import export_vault, import_vault
from commonplace.errors import CommonplaceError
from commonplace.settings.load import load_settings
from commonplace.settings.schema import Settings
from commonplace.vault.base import Label
from commonplace.vault.postgresql.store import PostgresqlVault
from tests.gitvault import AUTHOR
from tests.postgresql import database_url, new_tenant, postgresql_server

pytestmark = pytest.mark.needs("postgres")

NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="/\\"), min_size=1, max_size=12)
PATHS = st.lists(NAMES, min_size=1, max_size=3).map(lambda names: "/".join([*names[:-1], f"{names[-1]}.md"]))
CONTENTS = st.one_of(
    st.sampled_from(
        [b"", b"\n", b"one\r\ntwo\r\n", b"no end", b"\x00\xff\xfe", b"\xef\xbb\xbfmark", b"data 5\nblob\n"]
    ),
    st.binary(max_size=60),
)
MESSAGES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=30)
COMMITS = st.lists(
    st.tuples(MESSAGES, st.dictionaries(PATHS, st.none() | CONTENTS, min_size=1, max_size=4)), min_size=1, max_size=6
)


def settings_of(tenant: str, data: Path) -> Settings:
    flags = {"postgresql.url": database_url(), "postgresql.partitions": 2, "data": str(data)}
    return load_settings(flags={**flags, "vault.root": f"postgresql:{tenant}"}).settings


def store_of(tenant: str) -> PostgresqlVault:
    return PostgresqlVault(postgresql_server(), tenant=tenant, author=AUTHOR)


def write(vault: PostgresqlVault, message: str, files: dict[str, bytes | None]) -> None:
    """Commit these files; what no vault can hold is left out with all of its commit."""
    try:
        with vault.transaction(label=Label(message)) as changes:
            for path, content in files.items():
                at = vault.resolve(path)
                if content is not None:
                    changes.write(at, content)
                elif vault.exists(at):
                    changes.delete(at)
    except CommonplaceError:
        return


def everything(vault: PostgresqlVault) -> list[object]:
    """Each commit with all that is known of it but its id, and each file of it with its bytes."""
    found: list[object] = []
    for commit in reversed(vault.line_of(vault.head() or "")) if vault.head() else ():
        paths = [each.path for each in vault.list_at(commit).files]
        found.append(dict(zip(paths, vault.read_listed_at(commit, paths), strict=True)))
    revisions = [(each.when, each.author, each.message, each.trailers, each.paths) for each in vault.revisions()]
    return [
        *found,
        *revisions,
        {each.path: vault.read(vault.resolve(each.path)).content for each in vault.list().files},
    ]


def in_git(folder: Path) -> list[dict[str, bytes]]:
    """The files of each commit of the repository, oldest first, as git itself prints them."""

    def git(*words: str) -> bytes:
        return subprocess.run(["git", "-C", folder, *words], check=True, capture_output=True).stdout

    commits = git("rev-list", "--reverse", "HEAD").decode().split()
    named = [git("ls-tree", "-r", "-z", "--name-only", each).decode().split("\0")[:-1] for each in commits]
    return [
        {path: git("cat-file", "blob", f"{commit}:{path}") for path in paths}
        for commit, paths in zip(commits, named, strict=True)
    ]


@settings(max_examples=8, deadline=None, suppress_health_check=[*HealthCheck])
@given(commits=COMMITS)
def test_an_export_and_its_import_hold_the_same_bytes_in_every_revision(
    commits: list[tuple[str, dict[str, bytes | None]]],
) -> None:
    """Names, contents, times, authors, messages and trailers are the same in the database, in git, and back."""
    tenant, copy, folder = new_tenant(), new_tenant(), Path(mkdtemp())
    vault = store_of(tenant)
    write(vault, "first", {"first.md": b"first\r\n"})
    for message, files in commits:
        write(vault, message, files)
    try:
        export_vault(settings_of(tenant, folder), folder / "vault")
        expected = everything(vault)
        import_vault(settings_of(copy, folder), folder / "vault")
        on_disk = {
            path.relative_to(folder / "vault").as_posix(): path.read_bytes()
            for path in (folder / "vault").rglob("*")
            if path.is_file() and ".git" not in path.relative_to(folder / "vault").parts
        }

        assert in_git(folder / "vault") == expected[: len(vault.line_of(vault.head() or ""))]
        assert on_disk == expected[-1]
        assert everything(store_of(copy)) == expected
    finally:
        shutil.rmtree(folder)
