"""What an extra installs, and what needs it."""

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["needed_for"]


@contextmanager
def needed_for(what: str, extra: str) -> Iterator[None]:
    """Let an import that fails name the extra that installs what is missing.

    Examples
    --------
    >>> with needed_for("flying", extra="wings"):
    ...     import feathers
    Traceback (most recent call last):
    ...
    ModuleNotFoundError: flying needs feathers: pip install 'colk[wings]'
    """
    try:
        yield
    except ModuleNotFoundError as error:
        missing = str(error.name).partition(".")[0]
        raise ModuleNotFoundError(
            f"{what} needs {missing}: pip install 'colk[{extra}]'", name=missing
        ) from error
