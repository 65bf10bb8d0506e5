"""The head of a report: paper, date, code, machine and running time."""

import os
import platform
import subprocess
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

import colk

__all__ = ["PAPER", "Origin", "duration", "observe_origin"]

PAPER = (
    "A. S. Bedi, A. Koppel, K. Rajawat and P. Sanyal, “Nonparametric Compositional Stochastic "
    "Optimization for Risk-Sensitive Kernel Learning”"
)
_PACKAGES = ("numpy", "scipy", "scikit-learn", "matplotlib")


@dataclass(frozen=True)
class Origin:
    """The head of a report.

    Parameters
    ----------
    date, code, machine, packages, took : str
        The texts in the report. `packages` lists versions.
    """

    date: str
    code: str
    machine: str
    packages: str
    took: str

    @property
    def pairs(self) -> dict[str, str]:
        """Names and texts, in the order of the report."""
        return {
            "Paper": PAPER,
            "Date": self.date,
            "Code": self.code,
            "Machine": self.machine,
            "Versions": self.packages,
            "Took": self.took,
        }


def observe_origin(seconds: float, computed: int, found: int) -> Origin:
    """Return the date, the version of the code, the machine and the running time.

    Parameters
    ----------
    seconds : float
        Running time.
    computed, found : int
        Number of tasks that ran, and of those whose result was in the cache.

    Examples
    --------
    >>> observe_origin(150.0, 40, 2).took
    '2 min 30 s for 40 tasks; 2 more were in the cache'
    """
    versions = [f"{name} {metadata.version(name)}" for name in _PACKAGES]
    return Origin(
        date=f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        code=f"colk {colk.__version__}{_commit()}",
        machine=f"{_processor()}, {os.cpu_count()} cores, {platform.system()}",
        took=f"{duration(seconds)} for {computed} tasks; {found} more were in the cache",
        packages=", ".join([f"Python {platform.python_version()}", *versions]),
    )


def duration(seconds: float) -> str:
    """Write a duration in hours, minutes and seconds.

    Examples
    --------
    >>> duration(7.4), duration(61.0), duration(3700.0)
    ('7 s', '1 min 1 s', '1 h 1 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    for line in lines:
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _commit() -> str:
    """Return the commit of the sources, or an empty text if they are not in a repository."""
    here = Path(colk.__file__).resolve()
    if _git(here.parent, "ls-files", "--error-unmatch", here.name) is None:
        return ""
    commit = _git(here.parent, "rev-parse", "--short", "HEAD")
    folders = here.parent, Path(__file__).resolve().parent
    status = ("status", "--porcelain", "--untracked-files=no", ".")
    changed = any(_git(folder, *status) for folder in folders)
    return f", commit {commit}{' with changes' if changed else ''}" if commit else ""


def _git(folder: Path, *arguments: str) -> str | None:
    """Return the output of git, or None if git or the repository is missing."""
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments],
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
