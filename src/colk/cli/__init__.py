"""The command line: `colk reproduce`."""

from colk.cli.main import main

__all__ = ["main"]
