"""The options of `colk fit`, except those of the data."""

import argparse
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from colk.cli.options import count, names, port, share

__all__ = ["SETTINGS", "add_running", "add_settings", "add_usual", "given", "in_options", "stored"]

# Options that are settings of the model; with --resume they come from the model.
SETTINGS = (
    "target",
    "features",
    "categorical",
    "exclude",
    "id",
    "task",
    "month_first",
    "kernel",
    "bandwidth",
    "loss",
    "risk",
    "step_size",
    "eps",
    "max_atoms",
    "averaging",
    "scale",
    "solver",
    "forgetting",
    "polish",
    "risk_path",
    "seed",
)


def given(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the settings of the model that were given as options.

    Examples
    --------
    >>> given(argparse.Namespace(**{**dict.fromkeys(SETTINGS), "target": "y"}))
    {'target': 'y'}
    """
    values = {name: getattr(arguments, name) for name in SETTINGS}
    return {name: value for name, value in values.items() if value is not None}


def stored(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings as they are after saving and loading: tuples become lists.

    Examples
    --------
    >>> stored({"features": ("a", "b")})
    {'features': ['a', 'b']}
    """
    return {name: list(v) if isinstance(v, tuple) else v for name, v in settings.items()}


def in_options(message: str) -> str:
    """Write a message about parameters of Python as one about options.

    Examples
    --------
    >>> in_options("step_size must be above 0")
    '--step-size must be above 0'
    >>> in_options("prior=0.1 needs solver='newton'")
    'prior=0.1 needs --solver newton'
    >>> in_options("lower step_size, or set polish=True")
    'lower --step-size, or set --polish'
    """
    names = "|".join(SETTINGS)
    message = message.replace("polish=True", "--polish").replace("polish=False", "--no-polish")
    given = re.compile(rf"\b({names})=('?)([^\s',:;)]+)\2")
    message = given.sub(lambda found: f"{_option(found[1])} {found[3]}", message)
    named = re.compile(rf"^({names})\b|(?<!-)\b(step_size|max_atoms)\b")
    return named.sub(lambda found: _option(found[0]), message)


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def add_usual(parser: Any) -> None:
    """Add the options that most fits use."""
    group = parser.add_argument_group("most used")
    group.add_argument("--target", metavar="NAME", help="column to predict")
    group.add_argument(
        "--model", type=Path, required=True, metavar="FILE", help="file to write the model to"
    )
    group.add_argument(
        "--report", type=Path, metavar="FILE", help="write a report (HTML) to this file"
    )
    group.add_argument(
        "--task",
        choices=("regression", "classification"),
        help="default: classification if the target is text, else regression",
    )
    group.add_argument(
        "--intervals",
        type=share,
        metavar="C",
        help="make prediction intervals of this coverage, such as 0.9; a tenth of the rows is "
        "held out to calibrate them (default: no intervals)",
    )


def add_settings(parser: Any) -> None:
    """Add the options that are settings of the model."""
    _add_columns(parser.add_argument_group("columns"))
    _add_terms(parser.add_argument_group("objective"))
    method = parser.add_argument_group("method")
    _add_solver(method)
    _add_size(method)


def _add_columns(group: Any) -> None:
    group.add_argument(
        "--features",
        type=names,
        metavar="NAMES",
        help="columns to predict from (default: all other usable columns)",
    )
    group.add_argument(
        "--categorical",
        type=names,
        metavar="NAMES",
        help="features whose values are categories (default: columns of text)",
    )
    group.add_argument(
        "--exclude", type=names, metavar="NAMES", help="columns not to use as features"
    )
    group.add_argument(
        "--id",
        metavar="NAME",
        help="column that names the rows; it is not a feature, and colk predict writes it",
    )
    group.add_argument(
        "--month-first",
        action=argparse.BooleanOptionalAction,
        help="whether 3/4/2026 is in March (default: found in the first rows)",
    )


def _add_terms(group: Any) -> None:
    group.add_argument(
        "--kernel",
        metavar="TERM",
        help="auto, laplacian, gaussian, 'matern(1.5)', ... (default: auto, which compares "
        "kernels on 1000 rows)",
    )
    group.add_argument(
        "--bandwidth",
        type=float,
        metavar="C",
        help="bandwidth of --kernel, for standardised columns (default: p/2 for laplacian, "
        "√(p/2) otherwise, for p columns)",
    )
    group.add_argument(
        "--loss",
        metavar="TERM",
        help="squared, huber, 'pinball(0.9)', ... (default: huber; softmax for labels)",
    )
    group.add_argument(
        "--risk", metavar="TERM", help="mean, variance, 'cvar(0.1)', ... (default: mean)"
    )


def _add_solver(group: Any) -> None:
    group.add_argument(
        "--solver",
        choices=("gradient", "newton"),
        help="newton needs fewer rows and about twice the time per row "
        "(default: gradient for files, newton for standard input)",
    )
    group.add_argument(
        "--forgetting",
        type=_forgetting,
        metavar="G",
        help="for --solver newton on data that change over time: 0.999 gives the last 1000 rows "
        "near a point the most weight; auto adapts to the data (default: 1, never forget)",
    )
    group.add_argument(
        "--step-size",
        type=float,
        metavar="A",
        help="step size of --solver gradient (default: 1 / the scale of the loss, "
        "0.2 times that for cvar)",
    )


def _add_size(group: Any) -> None:
    group.add_argument(
        "--eps",
        type=float,
        metavar="E",
        help="H-norm of the error that compression may make in one step (default: 0.05 times "
        "the RMS step norm)",
    )
    group.add_argument(
        "--max-atoms",
        type=count,
        metavar="M",
        help="largest number of atoms (default: 400, or up to 1600 if more lower the error)",
    )
    group.add_argument(
        "--averaging",
        action=argparse.BooleanOptionalAction,
        help="predict with an average of the iterates (default: yes)",
    )
    group.add_argument(
        "--scale",
        action=argparse.BooleanOptionalAction,
        help="standardise the numbers (default: yes)",
    )
    group.add_argument(
        "--polish",
        action=argparse.BooleanOptionalAction,
        help="find the best weights of the atoms in more passes over the files (default: yes)",
    )
    group.add_argument(
        "--risk-path",
        action=argparse.BooleanOptionalAction,
        help="follow --risk only as far as it lowers the risk on left-out rows (default: yes)",
    )
    group.add_argument(
        "--seed",
        type=_seed,
        metavar="N",
        help="seed for drawing rows for the kernel, --holdout and --intervals (default: 0)",
    )


def add_running(group: Any) -> None:
    """Add the options of the run."""
    group.add_argument(
        "--epochs",
        type=count,
        metavar="N",
        help="number of learning passes (default: 1; 5 with --no-polish and --solver gradient)",
    )
    group.add_argument(
        "--holdout",
        type=share,
        metavar="SHARE",
        help="share of the rows to hold out and test the model on (default: none)",
    )
    group.add_argument(
        "--checkpoint-every",
        type=count,
        metavar="N",
        help="save the model after every N rows (default: at the end)",
    )
    group.add_argument(
        "--resume", action="store_true", help="continue the model in --model, if there is one"
    )
    group.add_argument(
        "--force",
        action="store_true",
        help="with --resume: continue even if the rows that were read have changed",
    )
    group.add_argument(
        "--dask",
        nargs="?",
        const="local",
        metavar="ADDRESS",
        help="fit on the workers of this Dask scheduler, which read the files; without ADDRESS, on "
        "a local cluster",
    )
    group.add_argument(
        "--live",
        type=port,
        nargs="?",
        const=8766,
        metavar="PORT",
        help="show the run on a page that only this machine can open (default port: 8766)",
    )
    group.add_argument(
        "--fail-on-drift",
        action="store_true",
        help="return exit code 3 if the error rose during the run; the model is written anyway",
    )
    group.add_argument(
        "--allow-rejects",
        action="store_true",
        help="learn the other rows if more than 5 %% of the rows cannot be used (default: stop)",
    )
    group.add_argument("--overwrite", action="store_true", help="replace an existing model")


def _forgetting(text: str) -> float | str:
    try:
        return text if text == "auto" else float(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"must be a number or auto, got {text}") from error


def _seed(text: str) -> int:
    if not text.isdecimal() or int(text) >= 2**32:
        raise argparse.ArgumentTypeError(f"must be a whole number below 2³², got {text}")
    return int(text)
