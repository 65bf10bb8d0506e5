"""What can go wrong while learning, by name."""

__all__ = ["DivergenceError"]


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
