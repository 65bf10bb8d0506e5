"""The command `colk`, and `python -m colk`.

This module imports little, so that Ctrl-C is handled from the first moments on.
"""

import os
import sys
from _signal import SIG_IGN, SIGINT, signal  # type: ignore[import-not-found]  # starts sooner

__all__ = ["run"]

_INTERRUPTED = 130


def _leave(*_: object) -> None:
    """End the process at once: nothing is being written."""
    try:
        os.write(2, b"colk: stopped\n")
    finally:
        os._exit(_INTERRUPTED)


def run() -> None:
    """Run the command line of the process, and end the process.

    Ctrl-C ends it with one line and exit code 130. Commands that write files handle it themselves
    while they do.
    """
    signal(SIGINT, _leave)
    from colk.cli.main import main
    from colk.cli.reader_thread import is_reading

    code = main()
    signal(SIGINT, SIG_IGN)  # the work is done
    if is_reading():  # a thread that waits for a pipe; it must not outlive the interpreter
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
        os._exit(code)
    sys.exit(code)


if __name__ == "__main__":
    run()
