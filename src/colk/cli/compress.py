"""`colk compress`: make a model smaller, with a bound on the error."""

import argparse
from pathlib import Path
from typing import Any

from colk.cli.interrupts import interruptible
from colk.cli.options import add_bounds, add_command
from colk.cli.paths import check_apart, check_file

__all__ = ["add_parser"]

_DESCRIPTION = """\
Remove the atoms that matter least from a model, by kernel orthogonal matching
pursuit, and print a bound on the error. The smaller model predicts, but cannot learn.

    colk compress houses.colk --max-atoms 20 --out small.colk
"""


def add_parser(commands: Any) -> None:
    """Add the command to the parser of `colk`."""
    parser = add_command(commands, "compress", _DESCRIPTION)
    parser.add_argument("model", type=Path, metavar="MODEL", help="file of the model")
    add_bounds(parser)
    parser.add_argument(
        "--out", type=Path, required=True, metavar="FILE", help="file for the smaller model"
    )
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> None:
    from colk.cli.models import load_model
    from colk.persistence import save
    from colk.rkhs.compression import compress, largest_change
    from colk.rkhs.expansion import KernelExpansion
    from colk.rkhs.interop import Affine
    from colk.tabular import TableModel

    check_file(arguments.out, "--out")
    check_apart([(arguments.out, "--out")], [arguments.model])
    bounds = {"eps": arguments.eps, "max_atoms": arguments.max_atoms}
    model, unit = load_model(arguments.model), 1.0
    whole = getattr(model, "function", model)
    smaller: Any
    if isinstance(model, TableModel):
        smaller, found = model.compressed(**bounds)
        unit = model.target_unit
    elif isinstance(model, Affine):
        found = compress(whole, **bounds)
        smaller = Affine(found.function, model.intercept)
    elif isinstance(model, KernelExpansion):
        found = compress(model, **bounds)
        smaller = found.function
    else:
        raise TypeError(
            f"a {type(model).__name__} cannot be compressed; save its function and compress that"
        )
    with interruptible():
        save(smaller, arguments.out)
    print(f"{len(found.kept) + len(found.removed)} → {len(found.kept)} atoms")
    print(f"certificate: ‖f − f~‖ ≤ {found.error:.6g}")
    what = "score" if getattr(model, "task", None) == "classification" else "prediction"
    change = largest_change(whole, found.function) * unit
    print(f"measured: at the atoms, no {what} changes by more than {change:.4g}")
    kernel = whole.kernel.of_atoms
    if kernel.is_shift_invariant:
        bound = found.error * float(kernel.diagonal(whole.atoms).max(initial=0.0)) ** 0.5 * unit
        print(f"bound: at any point, no {what} changes by more than {bound:.4g}")
    if len(getattr(smaller, "residuals", ())):
        print(f"intervals: each end moves outwards by the measured {change:.4g}")
