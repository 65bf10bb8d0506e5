"""`colk serve`: serve a model over HTTP."""

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from colk.cli.options import add_command, count, need_serve, port
from colk.cli.paths import check_file, write_somewhere

__all__ = ["add_parser"]

_DESCRIPTION = """\
Answer requests for predictions as JSON over HTTP; with --learn, requests can also
send rows to learn. /openapi.json describes the requests, and / shows the progress of
learning. The server listens on this machine only, unless --host names another
address; then every request needs a token. Ctrl-C finishes open requests, saves the
model and ends the server.

    colk serve houses.colk --learn
    curl localhost:8765/predict --json '{"rows": [{"size": 120, "city": "Bonn"}]}'
"""

# Environment variable with the token.
_TOKEN = "COLK_TOKEN"
_SHORTEST = 16


def add_parser(commands: Any) -> None:
    """Add the command to the parser of `colk`."""
    parser = add_command(commands, "serve", _DESCRIPTION)
    parser.add_argument("model", type=Path, metavar="MODEL", help="model that colk fit wrote")
    parser.add_argument(
        "--host", default="127.0.0.1", metavar="H", help="address to listen on (default: 127.0.0.1)"
    )
    parser.add_argument(
        "--port", type=port, default=8765, metavar="P", help="port (default: 8765; 0: a free one)"
    )
    parser.add_argument(
        "--token-file",
        type=Path,
        metavar="FILE",
        help=f"file with the token that requests must send (default: the environment variable "
        f"{_TOKEN})",
    )
    parser.add_argument("--learn", action="store_true", help="let requests update the model")
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="file to save the model to (default: MODEL)"
    )
    parser.add_argument(
        "--checkpoint-every",
        type=count,
        metavar="N",
        help="save the model after every N rows (default: at the end)",
    )
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> None:
    need_serve("serve")
    from colk.cli.live_state import ServiceState
    from colk.cli.models import load_table_model
    from colk.cli.serving.app import make_app
    from colk.cli.serving.feed import LiveFeed
    from colk.cli.serving.server import LOOPBACK_NAMES, is_loopback, listening, serve
    from colk.cli.serving.service import Service

    token, is_local = _token(arguments), is_loopback(arguments.host)
    if token is None and not is_local:
        raise ValueError(
            f"--host {arguments.host} can be reached from other machines: set a token with "
            f"--token-file or {_TOKEN}"
        )
    if not arguments.learn and (arguments.out or arguments.checkpoint_every):
        raise ValueError("--out and --checkpoint-every need --learn")
    path = arguments.out or arguments.model
    if arguments.learn:
        check_file(path, "--out" if arguments.out else "MODEL")
    model = load_table_model(arguments.model)
    if arguments.learn and model.is_fixed:
        raise ValueError(f"{arguments.model} is a compressed model, which cannot learn")
    service = Service(model, path, arguments.learn, arguments.checkpoint_every)
    feed = LiveFeed()
    at = listening(arguments.host, arguments.port)
    app = make_app(
        feed, f"Model of {model.target}", service, token, LOOPBACK_NAMES if is_local else None
    )
    shown = f"[{arguments.host}]" if ":" in arguments.host else arguments.host
    print(f"colk: http://{shown}:{at.getsockname()[1]}/ answers; Ctrl-C stops", file=sys.stderr)
    sys.stderr.flush()
    with ServiceState(service, feed):
        serve(app, at, feed.close)
    if service.has_news:
        write_somewhere(service.save, path)
        print(f"{path}: {model.rows:,} rows learned")


def _token(arguments: argparse.Namespace) -> str | None:
    """Return the token; raise if it is too short."""
    given = os.environ.get(_TOKEN)
    if arguments.token_file is not None:
        given = arguments.token_file.read_text(encoding="utf-8").strip()
    if given is None:
        return None
    if len(given) < _SHORTEST or not given.isascii() or not given.isprintable():
        raise ValueError(f"a token must have at least {_SHORTEST} printable ASCII characters")
    return given
