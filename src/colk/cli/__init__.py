"""The command line: `colk fit`, `predict`, `show`, `compress`, `export` and `reproduce`."""

from colk.cli.main import main

__all__ = ["main"]
