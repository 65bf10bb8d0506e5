"""Exceptions and warnings of learning and of files."""

import sys
import warnings

__all__ = [
    "ClippedWarning",
    "DivergenceError",
    "FileFormatError",
    "SlowFunctionWarning",
    "UncompiledWarning",
]


class ClippedWarning(UserWarning):
    """More than a tenth of the gradients of a stream exceeded `gradient_bound`.

    The function that is learned then depends on the bound: a low one hides outliers, and with a
    high one the steps of length step_size·gradient_bound may be too long.

    Examples
    --------
    >>> from colk.errors import ClippedWarning
    >>> issubclass(ClippedWarning, UserWarning)
    True
    """


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


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn at the line that called the library.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_caller("eps is large", UserWarning)
    >>> [str(warning.message) for warning in caught]
    ['eps is large']
    """
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and _is_own(frame.f_globals.get("__name__", "")):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level - 1)


def _is_own(module: str) -> bool:
    return module.partition(".")[0] == "colk"
