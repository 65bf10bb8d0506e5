"""`colk`: the parser, and one line for each error."""

import argparse
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from colk._version import __version__
from colk.cli import compress, export, fit, predict, reproduce, show

__all__ = ["main"]

_INTERRUPTED = 130
_UNREAD = 141


class _Parser(argparse.ArgumentParser):
    """Errors of one line, without the usage in front."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: error: {message} (see {self.prog} --help)\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="colk",
        description="Risk-sensitive online kernel learning in bounded memory.",
        epilog="colk COMMAND --help tells more about a command.",
    )
    parser.add_argument("--version", action="version", version=f"colk {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in (fit, predict, show, compress, export, reproduce):
        command.add_parser(commands)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        What stands after `colk`; by default what the process was started with.

    Returns
    -------
    int
        The exit code: 0, 2 for an error that the message explains, 130 after Ctrl-C,
        141 where nobody reads the output.
    """
    parsed = _parser().parse_args(arguments)
    try:
        parsed.run(parsed)
    except KeyboardInterrupt as interrupt:
        told = str(interrupt) or "stopped"
        print(f"colk: {told}", file=sys.stderr)
        return _INTERRUPTED
    except BrokenPipeError:  # whoever read the output has left
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _UNREAD
    except MemoryError:
        print("colk: error: there is not enough memory", file=sys.stderr)
        return 2
    except (ValueError, TypeError, ArithmeticError, LookupError, OSError, ImportError) as error:
        print(f"colk: error: {' '.join(_told(error).split())}", file=sys.stderr)
        return 2
    return 0


def _told(error: Exception) -> str:
    """What an error says; of the system's, without its number."""
    if isinstance(error, OSError) and error.strerror:
        said = error.strerror[:1].lower() + error.strerror[1:]
        return said if error.filename is None else f"{os.fsdecode(error.filename)}: {said}"
    return str(error)
