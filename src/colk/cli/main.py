"""Parse the command line of `colk` and run a command; each error is printed on one line."""

import argparse
import os
import re
import sys
from collections.abc import Collection, Sequence
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, NoReturn

from colk._version import __version__
from colk.cli.fit_options import in_options
from colk.cli.rejects import TooManyRejectsError
from colk.cli.terminal import plain_output

__all__ = ["main", "show_warning", "whole_parser"]

_INTERRUPTED = 130
_UNREAD = 141

# Each command is a module of this package, which is imported only if the command is used.
_COMMANDS = {
    "fit": "learn a model from a table",
    "predict": "predict the rows of a table",
    "evaluate": "measure a model on rows with known targets",
    "serve": "answer requests for predictions over HTTP",
    "watch": "show a model while it is learned",
    "show": "describe a model",
    "compress": "make a model smaller, with a bound on the error",
    "merge": "merge models that learned from different samples",
    "export": "write a model as ONNX or as plain Python",
    "completion": "print a script for the completion of a shell",
}
# Commands of the package colk-lab, which are found through its entry points.
_LAB_COMMANDS = {
    "reproduce": "run the paper's experiments and write a report",
    "bench": "compare colk with other methods and write a page",
}
_GROUP = "colk.commands"
_NO_LAB = "colk {name} needs colk-lab: run pip install ./lab in a clone of the repository"


class _Parser(argparse.ArgumentParser):
    """A parser that prints an error on one line, without the usage message."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: error: {message} (see {self.prog} --help)\n")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Reject unknown words here, so that the message names the command."""
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return found, unknown


def whole_parser() -> argparse.ArgumentParser:
    """Return the parser with the options of all commands that are installed."""
    installed = {each.name for each in entry_points(group=_GROUP)}
    return _parser([*_COMMANDS, *(name for name in _LAB_COMMANDS if name in installed)])


def _parser(used: Collection[str]) -> argparse.ArgumentParser:
    """Return the parser, with the options of these commands."""
    parser = _Parser(
        prog="colk",
        description="Risk-sensitive online kernel learning in bounded memory.",
        epilog="colk COMMAND --help describes a command.",
    )
    parser.add_argument("--version", action="version", version=f"colk {__version__}")
    parser.set_defaults(run=lambda _: parser.print_help())
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for name, summary in (_COMMANDS | _LAB_COMMANDS).items():
        if name not in used:
            commands.add_parser(name, help=summary)
        elif name in _COMMANDS:
            import_module(f"colk.cli.{name}").add_parser(commands)
        elif found := entry_points(group=_GROUP, name=name):
            found[name].load()(commands)
        else:
            parser.error(_NO_LAB.format(name=name))
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        The words after `colk`. Default: those of the process.

    Returns
    -------
    int
        The exit code: 0 for success, 1 if too many rows cannot be used, 2 for another error, 3
        after a drift with `colk fit --fail-on-drift`, 130 after Ctrl-C, 141 if the output is a
        closed pipe.
    """
    with plain_output():
        return _main(sys.argv[1:] if arguments is None else arguments)


def _main(words: Sequence[str]) -> int:
    parsed = _parser([word for word in words if not word.startswith("-")][:1]).parse_args(words)
    try:
        code: int | None = parsed.run(parsed)
    except KeyboardInterrupt as interrupt:
        print(f"colk: {str(interrupt) or 'stopped'}", file=sys.stderr)
        return _INTERRUPTED
    except BrokenPipeError:  # the reader of the output has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _UNREAD
    except MemoryError:
        print("colk: error: there is not enough memory", file=sys.stderr)
        return 2
    except TooManyRejectsError as error:
        print(f"colk: error: {' '.join(_message(error).split())}", file=sys.stderr)
        return 1
    except (ValueError, TypeError, ArithmeticError, LookupError, OSError, ImportError) as error:
        print(f"colk: error: {' '.join(_message(error).split())}", file=sys.stderr)
        return 2
    return code or 0


def show_warning(message: Warning | str, *_: object, **__: object) -> None:
    """Print a warning on one line, without the place in the code."""
    told = in_options(" ".join(str(message).split()))
    print(f"colk: {told}", file=sys.stderr)


def _message(error: Exception) -> str:
    """Return the message of an error; for a system error, without its number."""
    if isinstance(error, OSError) and error.strerror:
        said = error.strerror[:1].lower() + error.strerror[1:]
        return said if error.filename is None else f"{os.fsdecode(error.filename)}: {said}"
    return re.sub(r"set `(\w+)`", _option, str(error))


def _option(found: re.Match[str]) -> str:
    """Write advice on a parameter of Python as advice on an option."""
    return f"set --{found[1].replace('_', '-')}"
