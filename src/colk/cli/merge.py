"""`colk merge`: merge models that learned from different samples."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from colk.cli.interrupts import interruptible
from colk.cli.options import add_bounds, add_command
from colk.cli.paths import check_apart, check_file

if TYPE_CHECKING:
    from colk.tabular import TableModel

__all__ = ["add_parser"]

_DESCRIPTION = """\
Merge models that learned from different samples: functions (their mean, or a weighted
sum), or Newton learners, whose information adds up. Print a bound on the error of the
compression. A merged learner can continue to learn. Models of colk fit cannot be merged;
give all files to one colk fit.

    colk merge monday.colk tuesday.colk --max-atoms 300 --out week.colk
"""


def add_parser(commands: Any) -> None:
    """Add the command to the parser of `colk`."""
    parser = add_command(commands, "merge", _DESCRIPTION)
    parser.add_argument("models", type=Path, nargs="+", metavar="MODEL", help="files of the models")
    parser.add_argument(
        "--weights",
        type=float,
        nargs="+",
        metavar="W",
        help="one weight for each model (default: equal weights)",
    )
    parser.add_argument(
        "--base",
        type=Path,
        metavar="FILE",
        help="the learner that all models started from (default: none)",
    )
    add_bounds(parser)
    parser.add_argument(
        "--out", type=Path, required=True, metavar="FILE", help="file for the merged model"
    )
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> None:
    from colk.cli.models import load_model
    from colk.merging import merge
    from colk.persistence import save

    base = arguments.base
    check_file(arguments.out, "--out")
    read = [*arguments.models, *([] if base is None else [base])]
    check_apart([(arguments.out, "--out")], read)
    models = [load_model(path) for path in arguments.models]
    _refuse_tables(models)
    merged = merge(
        models,
        arguments.weights,
        base=None if base is None else load_model(base),
        eps=arguments.eps,
        max_atoms=arguments.max_atoms,
    )
    with interruptible():
        save(merged.model, arguments.out)
    function = getattr(merged.model, "function", merged.model)
    print(f"{len(arguments.models)} models, {merged.n_atoms_before} → {function.n_atoms} atoms")
    print(f"certificate: ‖f − f~‖ ≤ {merged.error:.6g}")


def _refuse_tables(models: Sequence[Any]) -> None:
    """Raise for models of tables, with what differs and the command that gives one model."""
    from colk.tabular import TableModel

    tables = [model for model in models if isinstance(model, TableModel)]
    if not tables:
        return
    first, *others = (_chosen(model) for model in tables)
    unlike = [name for name, value in first.items() if any(o[name] != value for o in others)]
    known = [model.notes.get("data", ["FILE"]) for model in tables]
    files = dict.fromkeys(quote(path) for paths in known for path in paths)
    raise ValueError(
        "models of colk fit cannot be merged, because each chose its kernel, scales and categories "
        f"by its own rows (here they differ in: {', '.join(unlike) or 'nothing but the rows'}); "
        f"fit all rows at once: colk fit {' '.join(files)} --target {quote(tables[0].target)}"
    )


def _chosen(model: "TableModel") -> dict[str, Any]:
    """Return what must be equal in models whose functions are added."""
    return {
        "columns": (model.target, model.features),
        "kinds of columns": (model.categorical, model.dates),
        "categories": [model.category_values(name) for name in model.categorical],
        "scales": [model.unit.tolist(), model.center.tolist(), model.target_unit],
        "kernel": model.kernel,
    }
