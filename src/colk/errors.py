"""What can go wrong, by name."""

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["DivergenceError", "SlowFunctionWarning", "UncompiledWarning", "needed_for"]


@contextmanager
def needed_for(what: str, extra: str) -> Iterator[None]:
    """Let an import that fails name the extra that installs what is missing.

    Examples
    --------
    >>> from colk.errors import needed_for
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


class DivergenceError(ArithmeticError):
    """A learner left the region where its numbers mean anything.

    The learner that raises it keeps the last good state, from before the step that would have
    diverged. The message names the setting to change.

    Examples
    --------
    >>> from colk import DivergenceError
    >>> issubclass(DivergenceError, ArithmeticError)
    True
    """


class SlowFunctionWarning(RuntimeWarning):
    """A user's function is called as it is, since Numba is there and cannot compile it.

    Examples
    --------
    >>> from colk.errors import SlowFunctionWarning
    >>> issubclass(SlowFunctionWarning, RuntimeWarning)
    True
    """


class UncompiledWarning(RuntimeWarning):
    """The package was installed where there is no C compiler; it works, slowly.

    It is said once a process, when the first term is imported.

    Examples
    --------
    >>> import warnings
    >>> from colk.errors import UncompiledWarning
    >>> warnings.simplefilter("ignore", UncompiledWarning)
    """
