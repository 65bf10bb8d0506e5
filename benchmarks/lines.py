"""Lines of the engine, of its terms and of its learners: how much there is to read.

    python benchmarks/lines.py

counts all lines, docstrings, comments and blank ones included, of .py, .pxd and .h files, and fails
where there are too many of them, in all or in a file.
"""

import sys
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "src" / "colk"
MOST = 6000
MOST_IN_A_FILE = 400

# What is counted, by what it is for. Modules of a stream were one core; functions are a user's own.
PARTS = {
    "terms": ("terms", "trackers"),
    "kernels": ("kernels", "draws", "spectral"),
    "losses": ("losses",),
    "risks": ("risks",),
    "compressors": ("compressors",),
    "functions": ("functions",),
    "stream": ("stream", "quasigradient", "step", "window", "dictionary", "pairing"),
    "other steps": ("implicit", "newton", "ahead", "covariance", "experts", "priors"),
    "loops": ("lanes", "triangles", "blas", "maths", "buffers"),
    "learners": ("learners",),
}


def files(name: str) -> list[Path]:
    """Sources of a module or of a package."""
    places = [*PACKAGE.glob(f"{name}.*"), *(PACKAGE / name).glob("**/*")]
    return sorted(path for path in places if path.suffix in (".py", ".pxd", ".h"))


def count(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def main() -> int:
    """Print the table; return 1 where a limit is exceeded."""
    found = {part: [path for name in PARTS[part] for path in files(name)] for part in PARTS}
    print("| part | files | lines | longest |\n| --- | --- | --- | --- |")
    for part, paths in found.items():
        longest = max(paths, key=count)
        name = longest.relative_to(PACKAGE).as_posix()
        lines = sum(map(count, paths))
        print(f"| {part} | {len(paths)} | {lines} | {name}: {count(longest)} |")
    everything = [path for paths in found.values() for path in paths]
    total, failed = sum(map(count, everything)), False
    print(f"| all | {len(everything)} | {total} | at most {MOST} |")
    if total > MOST:
        failed = True
        print(f"{total - MOST} lines too many", file=sys.stderr)
    for path in everything:
        if count(path) > MOST_IN_A_FILE:
            failed = True
            name = path.relative_to(PACKAGE).as_posix()
            print(f"{name} has {count(path)} lines, above {MOST_IN_A_FILE}", file=sys.stderr)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
