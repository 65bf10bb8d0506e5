"""Exceptions and warnings of learning and of files."""

__all__ = ["DivergenceError", "FileFormatError", "SlowFunctionWarning", "UncompiledWarning"]


class DivergenceError(ArithmeticError):
    """A step of a learner would diverge.

    The learner keeps the state before that step. The message names the setting to change.

    Examples
    --------
    >>> from colk import DivergenceError
    >>> issubclass(DivergenceError, ArithmeticError)
    True
    """


class FileFormatError(ValueError):
    """A file is damaged, of another kind, or does not contain a valid model.

    No code from the file has been run, and no object has been changed.

    Examples
    --------
    >>> from colk import FileFormatError
    >>> issubclass(FileFormatError, ValueError)
    True
    """


class SlowFunctionWarning(RuntimeWarning):
    """A user-defined function runs in plain Python, because Numba cannot compile it.

    Examples
    --------
    >>> from colk.errors import SlowFunctionWarning
    >>> issubclass(SlowFunctionWarning, RuntimeWarning)
    True
    """


class UncompiledWarning(RuntimeWarning):
    """The package was installed without a C compiler; it works, but is slow.

    It is issued once per process, when the first term is imported.

    Examples
    --------
    >>> import warnings
    >>> from colk.errors import UncompiledWarning
    >>> warnings.simplefilter("ignore", UncompiledWarning)
    """
