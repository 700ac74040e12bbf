"""The real vaults: notes, links resolved and unresolved, Problems by kind, and the time to read it all."""

import argparse
import tarfile
import tempfile
import time
from collections import Counter
from pathlib import Path

from commonplace import open_memory


def main() -> None:
    """Check every vault of the data folder as `commonplace lint` does."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data/vaults"), help="folder with *.tar.gz vaults")
    data = parser.parse_args().data
    archives = sorted(data.glob("*.tar.gz"))
    if not archives:
        print(f"no vaults (*.tar.gz) in {data}: nothing to show")
        return
    print(f"{'vault':<26}{'notes':>7}{'resolved':>10}{'unresolved':>12}{'seconds':>9}  Problems")
    for archive in archives:
        with tempfile.TemporaryDirectory() as folder:
            with tarfile.open(archive) as packed:
                packed.extractall(folder, filter="data")
            (vault,) = Path(folder).iterdir()
            show(vault)


def show(vault: Path) -> None:
    """One line for one vault."""
    start = time.perf_counter()
    check = open_memory(vault).notes.check()
    seconds = time.perf_counter() - start
    unresolved = sum(1 for link in check.links if link.path is None)
    kinds = ", ".join(f"{count} {code}" for code, count in Counter(p.code for p in check.problems).most_common())
    resolved = len(check.links) - unresolved
    print(f"{vault.name:<26}{check.notes:>7}{resolved:>10}{unresolved:>12}{seconds:>9.2f}  {kinds or 'none'}")


if __name__ == "__main__":
    main()
