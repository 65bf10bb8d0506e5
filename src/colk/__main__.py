"""The command `colk`, and `python -m colk`.

This module imports little, so that Ctrl-C is handled while the other modules are being imported.
"""

import os
import sys
from _signal import SIG_IGN, SIGINT, signal  # type: ignore[import-not-found]  # starts sooner

__all__ = ["run"]

_INTERRUPTED = 130


def _leave(*_: object) -> None:
    """End the process at once; no file is open for writing yet."""
    try:
        os.write(2, b"colk: stopped\n")
    finally:
        os._exit(_INTERRUPTED)


def run() -> None:
    """Run the command with the arguments of the process, then end the process.

    Ctrl-C ends it with one line and exit code 130. Commands handle Ctrl-C themselves while they
    write files.
    """
    signal(SIGINT, _leave)
    import warnings

    from colk.cli.main import main, show_warning
    from colk.cli.reader_thread import is_reading

    warnings.showwarning = show_warning
    code = main()
    signal(SIGINT, SIG_IGN)  # only the exit is left
    if is_reading():  # a thread still waits for a pipe, and would crash the interpreter's shutdown
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
        os._exit(code)
    sys.exit(code)


if __name__ == "__main__":
    run()
