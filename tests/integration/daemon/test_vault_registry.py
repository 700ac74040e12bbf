"""Which vaults the daemon serves: those that `init` has registered, as the list is now."""

from pathlib import Path

import pytest

from commonplace import open_memory
from commonplace.app.registration import carry_out_init, move_vault, plan_init, remove_vault
from commonplace.daemon.vaults import VaultRegistry, Vaults
from commonplace.errors import NotFound, UsageError
from commonplace.model import Caller
from commonplace.settings.load import user_settings_file
from commonplace.settings.registered_vaults import register_vault, registered_vaults
from tests.polling import wait_for
from tests.postgresql import database_url, new_tenant


@pytest.fixture
def vaults(tmp_path: Path) -> list[Path]:
    made = [tmp_path / "one" / "Notes", tmp_path / "two" / "Notes", tmp_path / "Work"]
    for vault in made:
        vault.mkdir(parents=True)
    return made


def test_with_no_vault_there_is_none_to_mean() -> None:
    """The hint says what to do."""
    with pytest.raises(NotFound, match="commonplace init"):
        VaultRegistry({}).find("")


def test_a_vault_is_meant_by_its_path_its_name_or_nothing(vaults: list[Path]) -> None:
    """Nothing means the first that was registered."""
    registry = VaultRegistry({})
    register_vault(vaults[0])
    register_vault(vaults[2])

    assert registry.find("") == vaults[0]
    assert registry.find("Work") == registry.find(str(vaults[2])) == registry.find(f"{vaults[2]}/../Work") == vaults[2]


def test_a_vault_that_is_registered_later_is_found(vaults: list[Path]) -> None:
    """Without a restart."""
    registry = VaultRegistry({})
    register_vault(vaults[0])
    before = registry.vaults
    register_vault(vaults[2])

    assert before == (vaults[0],)
    assert registry.vaults == (vaults[0], vaults[2])


@pytest.mark.parametrize("named", ["Nowhere", "/etc", "../Work", "Work/", "", "a\0b", "/a\0b", "~nobody/x"])
def test_only_registered_vaults_count(vaults: list[Path], named: str) -> None:
    """A path is not enough: whoever calls does not choose which folders of this machine are read."""
    register_vault(vaults[2])
    registry = VaultRegistry({})

    if not named:
        assert registry.find(named) == vaults[2]
        return
    with pytest.raises(NotFound, match="commonplace init"):
        registry.find(named)


def test_two_vaults_of_one_name_are_told_apart_by_their_paths(vaults: list[Path]) -> None:
    """The hint lists them."""
    register_vault(vaults[0])
    register_vault(vaults[1])

    with pytest.raises(UsageError, match="several vaults") as raised:
        VaultRegistry({}).find("Notes")

    assert str(vaults[1]) in (raised.value.hint or "")


def test_the_persons_settings_name_the_default_and_the_shell_does_not(
    vaults: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The daemon serves many programs: the variables of the one that started it say nothing about the others."""
    for vault in vaults:
        register_vault(vault)
    monkeypatch.setenv("COMMONPLACE_VAULT", str(vaults[1]))
    by_registration = VaultRegistry({"vault.root": str(vaults[1])}).default
    user_settings_file().write_text(f'[vault]\nroot = "{vaults[2]}"\n')

    assert by_registration == vaults[0]
    assert VaultRegistry({}).default == vaults[2]


def test_a_default_whose_own_settings_are_broken_is_still_the_default(vaults: list[Path]) -> None:
    """It is told when it is opened; the other vaults are served."""
    (vaults[0] / ".commonplace.toml").write_text("= broken")
    register_vault(vaults[0])
    register_vault(vaults[2])

    assert VaultRegistry({}).vaults == (vaults[0], vaults[2])


def test_a_vault_that_is_moved_or_removed_is_let_go(vaults: list[Path], tmp_path: Path) -> None:
    """Without a restart: the daemon serves it where it is now, or no more."""
    flags = {"vault.backend": "device-local"}
    register_vault(vaults[0])
    register_vault(vaults[2])
    served = Vaults(flags=flags)
    before = served.open_all()
    move_vault("Work", tmp_path / "Job", flags=flags)
    remove_vault(registered_vaults().select(str(vaults[0])), keeps_data=True)
    after = served.open_all()
    names = [each["vault"] for each in served.status()]
    served.close()

    assert (before, after) == ("2 of 2 vaults are open", "1 of 1 vaults are open")
    assert names == [str(tmp_path / "Job")]


def test_of_many_vaults_only_some_are_open_and_each_has_its_turn(tmp_path: Path) -> None:
    """A server with a thousand vaults has the files and the memory of a few; a request opens the one it needs."""
    roots = [tmp_path / f"vault-{number}" for number in range(5)]
    for root in roots:
        root.mkdir()
        register_vault(root)
    served = Vaults(flags={"vault.backend": "device-local"}, most=2)
    opened = [(served.open_all(), {*served.opened()})[1] for _ in roots]
    states = served.status()
    served.memory_for(Caller("test", frozenset(), str(roots[0]))).notes.list()
    after = {*served.opened()}
    served.close()

    assert [len(each) for each in opened] == [1, 2, 2, 2, 2]
    assert set.union(*opened) == {*map(str, roots)}
    assert sorted(each["open"] for each in states) == [False] * 3 + [True] * 2
    assert str(roots[0]) in after
    assert len(after) == 2


def test_a_registered_vault_that_is_gone_says_how_to_find_it_again(vaults: list[Path]) -> None:
    """In `status`, for people and agents alike."""
    register_vault(vaults[2])
    vaults[2].rmdir()
    served = Vaults(flags={"vault.backend": "device-local"})

    assert f"`commonplace vault move {vaults[2]} NEW_FOLDER`" in served.status()[0]["said"]


@pytest.mark.needs("postgres")
def test_a_vault_in_a_database_is_served_by_its_name() -> None:
    """It is watched, and what another process writes is in its index soon."""
    name = f"postgresql:{new_tenant()}"
    flags = {"postgresql.url": database_url(), "postgresql.partitions": 2, "embedding.provider": "hashing"}
    carry_out_init(plan_init(Path(name), flags=flags), then=lambda: None)
    served = Vaults(flags=flags)
    served.open_all()
    memory = served.memory_for(Caller("test", frozenset(), name))
    wait_for(lambda: served.status()[0]["watching"] and served.status()[0]["heard"])
    with open_memory(name, settings=flags) as other:
        other.notes._vault.derive(other.notes._vault.resolve("Inbox/_index.md"), b"derived\n")
        with other.notes._vault.transaction() as changes:
            changes.write(other.notes._vault.resolve("Inbox/tea.md"), b"# Tea\n\nGreen tea from Uji.\n")
    try:
        wait_for(lambda: memory.search("Uji").hits)
        (status,) = served.status()
    finally:
        served.close()

    assert (status["vault"], status["open"], status["notes"]) == (name, True, 1)
