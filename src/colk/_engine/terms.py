"""The base class of all terms: kernels, losses, risks, trackers and compressors.

A term is frozen. Its parameters are the arguments of its constructor, listed in `_fields`; repr,
equality, hash, `replace` and pickling use them. Its formulas are methods. Compiled code calls the
compiled method of a built-in class, and the Python method of a class defined outside the package,
whose exceptions reach the caller.
"""

import sys
import warnings
from collections.abc import Callable, Iterator
from itertools import takewhile
from typing import Any, ClassVar, Self, TypeVar

import cython

from colk._signatures import SourceSignature
from colk.errors import UncompiledWarning

__all__ = [
    "Term",
    "check_overrides",
    "check_term",
    "is_foreign",
    "is_outside",
    "overridden",
    "show",
    "term_by_name",
    "with_parameters",
]

AnyTerm = TypeVar("AnyTerm", bound="Term")

if not cython.compiled:
    # Show the warning without its line of source.
    warnings.warn_explicit(
        "colk runs uncompiled, which is much slower; install a C compiler and reinstall colk "
        "with pip's options --force-reinstall --no-cache-dir",
        UncompiledWarning,
        filename="colk",
        lineno=1,
    )


def show(value: Any) -> str:
    """Return the text of a parameter; a function is shown by its name, without an address."""
    if type(value) is tuple:
        return f"({', '.join(map(show, value))}{',' if len(value) == 1 else ''})"
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    return str(name or repr(value))


def overridden(term: "Term", name: str) -> Callable[..., Any]:
    """Return the method of this name of a class that is defined outside the package.

    The compiled base method, which Python does not see, calls this. In the uncompiled package a
    call means that the method is missing.
    """
    method: Callable[..., Any] | None = getattr(term, name, None)
    if method is None or not cython.compiled:
        raise NotImplementedError(f"{type(term).__name__} must define the method {name}")
    return method


def is_outside(kind: type) -> bool:
    """Whether a class is defined outside this package."""
    home = kind.__module__
    return not home.startswith("colk.") or vars(sys.modules[home]).get(kind.__name__) is not kind


def _parts(term: "Term") -> list["Term"]:
    """Return the terms among the parameters of a term, such as the kernels of a sum."""
    values = term._parameters().values()
    spread = (value if type(value) is tuple else (value,) for value in values)
    return [value for several in spread for value in several if isinstance(value, Term)]


def is_foreign(term: "Term") -> bool:
    """Whether the class of a term, or of a part of it, is defined outside the package."""
    return is_outside(type(term)) or any(is_foreign(part) for part in _parts(term))


def check_overrides(term: "Term") -> None:
    """Reject a user-defined class whose override compiled code would ignore.

    Examples
    --------
    >>> from colk.losses import Huber
    >>> class Mine(Huber):
    ...     def loss_at(self, f, y):
    ...         return 0.0
    >>> check_overrides(Mine())
    Traceback (most recent call last):
    ...
    TypeError: Mine overrides loss_at of Huber, ...: derive Mine from Loss
    """
    family = type(term).__mro__
    own = list(takewhile(is_outside, family))
    base = family[len(own)]
    if own:
        hooks = vars(base).get("_hooks", ())
        for kind in family[len(own) :]:
            opened, sealed = vars(kind).get("_hooks", ()), vars(kind).get("_sealed", ())
            for name in (*opened, *sealed):
                if name not in hooks and any(name in vars(mine) for mine in own):
                    cure = f"derive {own[0].__name__} from" if name in opened else "leave it to"
                    raise TypeError(
                        f"{own[0].__name__} overrides {name} of {base.__name__}, which compiled "
                        f"code calls without looking for overrides: {cure} {kind.__name__}"
                    )
    for part in _parts(term):
        check_overrides(part)


def _cure(value: Any, kind: type) -> str:
    """Advice for a class or a function where a term is expected."""
    if isinstance(value, type) and issubclass(value, kind):
        return f": call it, {value.__name__}(...), to make one"
    wrapper = _WRAPPERS.get(kind.__name__)
    return f": wrap it in {wrapper}" if callable(value) and wrapper else ""


def check_term(value: Any, kind: type[AnyTerm], name: str) -> AnyTerm:
    """Return a term of this kind unchanged; raise TypeError for anything else."""
    if not isinstance(value, kind):
        raise TypeError(
            f"{name} must be a {kind.__name__}, got {type(value).__name__} {value!r}"
            f"{_cure(value, kind)}"
        )
    check_overrides(value)
    return value


def _children(value: Any) -> dict[str, Any]:
    """Return the parameters of a term, or the items of a tuple by index."""
    if isinstance(value, Term):
        return value._parameters()
    return {str(i): item for i, item in enumerate(value)} if type(value) is tuple else {}


def _descendants(value: Any) -> Iterator[tuple[str, Any]]:
    for name, child in _children(value).items():
        yield name, child
        for below, item in _descendants(child):
            yield f"{name}__{below}", item


def with_parameters(value: Any, changes: dict[str, Any]) -> Any:
    """Return a term with other values of the parameters named by `name__name`.

    Examples
    --------
    >>> from colk.kernels import Gaussian, Linear
    >>> with_parameters(Gaussian(1.0) + Linear(), {"parts__0__bandwidth": 0.5})
    Sum(parts=(Gaussian(bandwidth=0.5), Linear()))
    """
    children = _children(value)
    deeper: dict[str, dict[str, Any]] = {}
    for path, new in changes.items():
        name, _, rest = path.partition("__")
        if name not in children:
            known = ", ".join(children) or "none"
            raise ValueError(f"{show(value)} has no parameter {name!r}; it has: {known}")
        if rest:
            deeper.setdefault(name, {})[rest] = new
        else:
            children[name] = new
    for name, below in deeper.items():
        children[name] = with_parameters(children[name], below)
    return value.replace(**children) if isinstance(value, Term) else tuple(children.values())


# Classes that make terms of plain functions, by the name of the kind.
_WRAPPERS = {
    "Kernel": "CustomKernel(function)",
    "Loss": "CustomLoss(value, slope)",
    "Risk": "CustomRisk(inner, inner_slope, outer, ...)",
}


class Term:
    """A frozen part of the objective, defined by its parameters.

    Examples
    --------
    >>> from colk.losses import Huber
    >>> loss = Huber(threshold=2.0)
    >>> loss.replace(threshold=1.0)
    Huber(threshold=1.0)
    >>> loss == Huber(2.0)
    True
    >>> loss.get_params()
    {'threshold': 2.0}
    """

    # The parameters of the constructor, in order.
    _fields: ClassVar[tuple[str, ...]] = ()

    # Methods that compiled code calls. `_hooks`: those that a user-defined class may define if it
    # derives directly from this class. `_sealed`: the other ones that this class introduces.
    _hooks: ClassVar[tuple[str, ...]] = ()
    _sealed: ClassVar[tuple[str, ...]] = ()

    __signature__ = SourceSignature()

    def _parameters(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in type(self)._fields}

    def replace(self, **changes: Any) -> Self:
        """Return a copy of the term with other parameters."""
        return type(self)(**{**self._parameters(), **changes})

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return parameters by name; with `deep` also those of nested terms, as `name__name`."""
        return dict(_descendants(self)) if deep else self._parameters()

    def set_params(self, **changes: Any) -> Self:
        """Return a copy with other parameters, also of nested terms; the term itself is frozen."""
        changed: Self = with_parameters(self, changes)
        return changed

    def __sklearn_clone__(self) -> Self:
        return self

    def __replace__(self, **changes: Any) -> Self:
        return self.replace(**changes)

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={show(value)}" for name, value in self._parameters().items())
        return f"{type(self).__name__}({shown})"

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return bool(self._parameters() == other._parameters())

    def __hash__(self) -> int:
        return hash((type(self).__name__, *self._parameters().values()))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(self._parameters().values())

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __setattr__(self, name: str, value: Any) -> None:
        # Compiled classes have no dictionary; classes derived from them in Python have one.
        state: dict[str, Any] | None = getattr(self, "__dict__", None)
        if state is None or hasattr(self, name):
            raise AttributeError(
                f"{name} of {type(self).__name__} cannot be changed; make another one with "
                f"replace({name}=...)"
            )
        state[name] = value


def term_by_name(value: Any, kind: type[AnyTerm], registry: dict[str, Any], what: str) -> AnyTerm:
    """Return a term unchanged; for a name, return the registered term with default parameters."""
    if isinstance(value, kind):
        return check_term(value, kind, what)
    if not isinstance(value, str):
        raise TypeError(
            f"{what} must be a {kind.__name__} or one of {sorted(registry)}, "
            f"got {type(value).__name__} {value!r}{_cure(value, kind)}"
        )
    if value not in registry:
        raise ValueError(f"{what} {value!r} is unknown; choose one of {sorted(registry)}")
    term: AnyTerm = registry[value]()
    return term
