"""What can go wrong while learning, and with files, by name."""

__all__ = ["DivergenceError", "FileFormatError", "SlowFunctionWarning", "UncompiledWarning"]


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


class FileFormatError(ValueError):
    """A file is damaged, of another kind, or holds what no model of this package could have saved.

    Nothing in the file has run, and nothing was changed.

    Examples
    --------
    >>> from colk import FileFormatError
    >>> issubclass(FileFormatError, ValueError)
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
