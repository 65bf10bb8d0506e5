"""The command `colk` and its subcommands, such as `colk fit` and `colk predict`."""

from colk.cli.main import main

__all__ = ["main"]
