"""Count the lines of every room of the package.

    python -m colk_lab.tables lines [FOLDER]

counts all lines of .py, .pxd and .h files below `src/colk`, docstrings, comments and blank lines
included, and prints a table by room. FOLDER is another checkout of the repository, to compare with.
"""

import sys
from collections import defaultdict
from pathlib import Path

from colk_lab.tables.output import ROOT


def count(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def rooms(package: Path) -> dict[str, list[Path]]:
    """Sources by the folder or module at the top level that they belong to."""
    found = defaultdict(list)
    for path in sorted(package.rglob("*")):
        if path.suffix in (".py", ".pxd", ".h"):
            found[path.relative_to(package).parts[0].removesuffix(path.suffix)].append(path)
    return dict(found)


def main() -> None:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT
    package, total = root / "src" / "colk", 0
    print("| room | files | lines | longest file |\n| --- | --- | --- | --- |")
    for room, paths in rooms(package).items():
        longest, lines = max(paths, key=count), sum(map(count, paths))
        name = longest.relative_to(package).as_posix()
        total += lines
        print(f"| {room} | {len(paths)} | {lines} | {name}: {count(longest)} |")
    print(f"| all | | {total} | |")


if __name__ == "__main__":
    main()
