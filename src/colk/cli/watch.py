"""`colk watch`: a page that shows a model while it is learned."""

import argparse
import sys
from pathlib import Path
from typing import Any

from colk.cli.options import add_command, need_serve, port

__all__ = ["add_parser"]

_DESCRIPTION = """\
Show a model that another command is learning, on a page that only this machine can
open. The page shows the error over the rows, the atoms, drifts, and the rows per
second. It reads the file again when it changes, so let the other command save often.

    colk fit log.csv --target ms --model ms.colk --checkpoint-every 1000 &
    colk watch ms.colk
"""


def add_parser(commands: Any) -> None:
    """Add the command to the parser of `colk`."""
    parser = add_command(commands, "watch", _DESCRIPTION)
    parser.add_argument("model", type=Path, metavar="MODEL", help="file of the model")
    parser.add_argument(
        "--port", type=port, default=8766, metavar="P", help="port (default: 8766; 0: a free one)"
    )
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> None:
    need_serve("watch")
    from colk.cli.live_state import FileState
    from colk.cli.models import load_table_model
    from colk.cli.serving.app import make_app
    from colk.cli.serving.feed import LiveFeed
    from colk.cli.serving.server import LOOPBACK_NAMES, listening, serve

    model = load_table_model(arguments.model)
    feed = LiveFeed()
    at = listening("127.0.0.1", arguments.port)
    app = make_app(feed, f"Model of {model.target}", hosts=LOOPBACK_NAMES)
    print(f"colk: http://127.0.0.1:{at.getsockname()[1]}/ shows it; Ctrl-C stops", file=sys.stderr)
    sys.stderr.flush()
    with FileState(arguments.model, feed):
        serve(app, at, feed.close)
