"""The options of `colk fit`, except those of the data."""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from colk.cli.options import count, names, port, share

__all__ = ["SETTINGS", "add_running", "add_settings", "given", "stored"]

# Options that are settings of the model; with --resume the model has them already.
SETTINGS = (
    "target",
    "features",
    "categorical",
    "exclude",
    "id",
    "task",
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
    """Return settings in the form in which a file returns them.

    Examples
    --------
    >>> stored({"features": ("a", "b")})
    {'features': ['a', 'b']}
    """
    return {name: list(v) if isinstance(v, tuple) else v for name, v in settings.items()}


def add_settings(group: Any) -> None:
    """Add the options that are settings of the model."""
    _add_columns(group)
    _add_terms(group)
    _add_solver(group)
    _add_size(group)


def _add_columns(group: Any) -> None:
    group.add_argument("--target", metavar="NAME", help="column to predict")
    group.add_argument(
        "--features",
        type=names,
        metavar="NAMES",
        help="columns to predict from (default: all others that can be used)",
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
        help="column that names the rows: no feature, written beside each prediction",
    )
    group.add_argument(
        "--task",
        choices=("regression", "classification"),
        help="default: classification if the target holds text, else regression",
    )


def _add_terms(group: Any) -> None:
    group.add_argument(
        "--kernel",
        metavar="TERM",
        help="auto, laplacian, gaussian, 'matern(1.5)', ... (default: auto, chosen by 1000 rows)",
    )
    group.add_argument(
        "--bandwidth",
        type=float,
        metavar="C",
        help="bandwidth of --kernel, for standardised columns (default: by their number)",
    )
    group.add_argument(
        "--loss",
        metavar="TERM",
        help="squared, huber, 'pinball(0.9)', ... (default: huber; softmax for classes)",
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
        help="for --solver newton on data that change over time: with 0.999 the last 1000 rows "
        "near a point count most; auto follows the data (default: 1, nothing is forgotten)",
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
        help="H-norm that one step may drop (default: 0.05 times the RMS step norm)",
    )
    group.add_argument(
        "--max-atoms",
        type=count,
        metavar="M",
        help="most atoms of the model (default: 400 to 1600, as many as pay)",
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
        help="find the best weights for the atoms in more passes over the files (default: yes)",
    )
    group.add_argument(
        "--risk-path",
        action=argparse.BooleanOptionalAction,
        help="follow --risk only as far as it pays on rows that are left out (default: yes)",
    )
    group.add_argument(
        "--seed",
        type=_seed,
        metavar="N",
        help="seed for rows drawn for the kernel, --holdout and --intervals (default: 0)",
    )


def add_running(group: Any) -> None:
    """Add the options of the run."""
    group.add_argument(
        "--epochs",
        type=count,
        metavar="N",
        help="passes that learn (default: 1; 5 with --no-polish and --solver gradient)",
    )
    group.add_argument(
        "--holdout",
        type=share,
        metavar="SHARE",
        help="share of the rows to test the model on; they are not learned (default: none)",
    )
    group.add_argument(
        "--intervals",
        type=share,
        metavar="C",
        help="prediction intervals of this coverage, such as 0.9; a tenth of the rows is not "
        "learned, but calibrates them (default: none)",
    )
    group.add_argument(
        "--checkpoint-every",
        type=count,
        metavar="N",
        help="save the model after every N rows (default: at the end)",
    )
    group.add_argument(
        "--resume", action="store_true", help="continue with the model in --model, if there is one"
    )
    group.add_argument(
        "--force",
        action="store_true",
        help="with --resume: continue although the rows that were read have changed",
    )
    group.add_argument(
        "--dask",
        nargs="?",
        const="local",
        metavar="ADDRESS",
        help="fit on the workers of this Dask scheduler, which read the files; without ADDRESS, of "
        "a local cluster",
    )
    group.add_argument(
        "--live",
        type=port,
        nargs="?",
        const=8766,
        metavar="PORT",
        help="show the run on a page that this machine can open (default port: 8766)",
    )
    group.add_argument(
        "--fail-on-drift",
        action="store_true",
        help="end with exit code 3 if the error of the rows rose; the model is written",
    )
    group.add_argument("--overwrite", action="store_true", help="replace an existing model")
    group.add_argument(
        "--report", type=Path, metavar="FILE", help="write a report (HTML) to this file"
    )


def _forgetting(text: str) -> float | str:
    try:
        return text if text == "auto" else float(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"must be a number or auto, got {text}") from error


def _seed(text: str) -> int:
    if not text.isdecimal() or int(text) >= 2**32:
        raise argparse.ArgumentTypeError(f"must be a whole number below 2³², got {text}")
    return int(text)
