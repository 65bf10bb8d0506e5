"""`colk export`: write a model that runs without colk."""

import argparse
from pathlib import Path
from typing import Any

from colk.cli.interrupts import interruptible
from colk.cli.options import add_command
from colk.cli.paths import check_apart, check_file

__all__ = ["add_parser"]

_DESCRIPTION = """\
Write a model that runs without colk: as ONNX, or as a Python module that needs only
the standard library.

    colk export houses.colk --to python --out houses.py
"""


def add_parser(commands: Any) -> None:
    """Add the command to the parser of `colk`."""
    parser = add_command(commands, "export", _DESCRIPTION)
    parser.add_argument("model", type=Path, metavar="MODEL", help="file of the model")
    parser.add_argument("--to", choices=("onnx", "python"), required=True, help="format to write")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="file to write")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> None:
    from colk.cli.models import load_model
    from colk.export import to_onnx, to_python
    from colk.persistence.atomic import write_whole

    check_file(arguments.out, "--out")
    check_apart([(arguments.out, "--out")], [arguments.model])
    model = load_model(arguments.model)
    if arguments.to == "onnx":
        data = to_onnx(model).SerializeToString()
    else:
        data = to_python(model).encode()
    with interruptible():
        write_whole(arguments.out, [data])
    print(f"{arguments.out}: {len(data):,} bytes")
