"""`colk completion`: print a script with which a shell completes commands and options."""

import argparse
from typing import Any

from colk.cli.options import add_command, need

__all__ = ["add_parser"]

_DESCRIPTION = """\
Print a script with which a shell completes the commands and options of colk.

    colk completion bash > ~/.local/share/bash-completion/completions/colk
    colk completion zsh > ~/.zfunc/_colk
"""


def add_parser(commands: Any) -> None:
    """Add the command to the parser of `colk`."""
    parser = add_command(commands, "completion", _DESCRIPTION)
    parser.add_argument("shell", choices=("bash", "zsh", "tcsh"), help="the shell")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> None:
    need("completion", "shtab")
    import shtab

    from colk.cli.main import whole_parser

    print(shtab.complete(whole_parser(), shell=arguments.shell))
