"""Store built-in terms by name and parameters, and user-defined terms by name only."""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any

from colk._engine.terms import Term, is_foreign, show
from colk.errors import FileFormatError

__all__ = ["Given", "known_terms", "make_term", "name_of_own", "parameters_of"]

_HOMES = (
    "colk.kernels",
    "colk.kernels.of_rows",
    "colk.losses",
    "colk.risks",
    "colk.trackers",
    "colk.compressors",
    "colk.schedules",
)

# Terms whose parameters are functions.
_OF_FUNCTIONS = frozenset({"CustomKernel", "CustomLoss", "CustomRisk", "Composition"})

# Parameters that bound a loop in each step, and their largest value in a file.
_COUNTED = ("order", "degree")
_MOST = 10_000


@cache
def known_terms() -> dict[str, type[Term]]:
    """Return the built-in terms by name: public classes of this package with a formula.

    Examples
    --------
    >>> known_terms()["Huber"]
    <class 'colk.losses.regression.Huber'>
    """
    found = {}
    for home in _HOMES:
        module = import_module(home)
        for name in module.__all__:
            kind = getattr(module, name)
            is_term = isinstance(kind, type) and issubclass(kind, Term)
            # A class that defines its own hooks is a base class without a formula.
            if is_term and name not in _OF_FUNCTIONS and "_hooks" not in vars(kind):
                found[name] = kind
    return found


def parameters_of(term: Term) -> dict[str, Any] | None:
    """Return the parameters of a built-in term; None for a user-defined term."""
    kind = type(term)
    if known_terms().get(kind.__name__) is not kind:
        return None
    return term.get_params(deep=False)


def make_term(name: str, parameters: Mapping[str, Any]) -> Term:
    """Return the built-in term with this name and these parameters; its constructor checks them."""
    for counted in _COUNTED:
        value = parameters.get(counted)
        if isinstance(value, (int, float)) and value > _MOST:
            raise FileFormatError(f"{counted}={value!r} of {name} is beyond {_MOST}")
    return known_terms()[name](**parameters)


def name_of_own(term: Any) -> str:
    """Return the name of a user-defined term: the name of its function or class.

    Examples
    --------
    >>> from colk.kernels import CustomKernel
    >>> def cauchy(u, v):
    ...     return 1.0 / (1.0 + (u - v) @ (u - v))
    >>> name_of_own(CustomKernel(cauchy))
    'cauchy'
    """
    if isinstance(term, Term) and not is_foreign(term):
        function = next(iter(term.get_params(deep=False).values()))
        return str(getattr(function, "__name__", show(function)))
    return type(term).__name__


class Given:
    """The user-defined terms that were passed to `load`, by their names in the file.

    Parameters
    ----------
    terms : mapping, optional
        The terms by name.
    """

    def __init__(self, terms: Mapping[str, Any] | None) -> None:
        self.terms = {} if terms is None else dict(terms)
        self.missing: str | None = None  # the name that was not found

    def find(self, name: str, shown: str) -> Any:
        """Return the term of this name; raise if its repr differs from the saved one."""
        if name in self.terms and repr(self.terms[name]) == shown:
            return self.terms[name]
        self.missing = name
        if name in self.terms:
            raise LookupError(
                f"the model was saved with {shown}, but terms[{name!r}] is {self.terms[name]!r}"
            )
        raise LookupError(
            f"the model was saved with your own term {shown}; pass it to "
            f"load(path, terms={{{name!r}: ...}})"
        )
