"""Import errors that name the extra to install."""

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["needed_for"]


@contextmanager
def needed_for(what: str, extra: str) -> Iterator[None]:
    """Context in which a failed import names the extra that installs the missing package.

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
