"""Declaration of the fitted attributes and parameters of a class of scikit-learn."""

from collections.abc import Callable
from typing import Any

from colk import _stored as stored
from colk.persistence._fitted.fields import Absent, DictOf, Whole

__all__ = ["State", "state"]

Fields = dict[str, stored.Field]
Check = Callable[[dict[str, Any]], None]

# Parameters that mean the same in each class. A cache holds pickles, and each job is a process.
_PARAMETERS: Fields = {
    "memory": Absent(),
    "n_jobs": stored.Optional(stored.Count(-64, 64)),
}

# Attributes that an estimator of each class may have.
_ATTRIBUTES: Fields = {
    "feature_names_in_": stored.Texts("p"),
    "_sklearn_output_config": DictOf(stored.OneOf("default", "pandas", "polars")),
}


class State:
    """The attributes of a class of scikit-learn.

    Parameters
    ----------
    fitted : dict of str to Field
        Attributes that `fit` sets; an estimator has all of them or none. They are read in this
        order.
    others : dict of str to Field, optional
        Attributes that may be missing. Default: none.
    check : function of a dict, optional
        Called with all attributes of a fitted estimator; raises an error if they contradict each
        other.
    parameters : dict of str to Field, optional
        Parameters whose values must be narrower than scikit-learn's own checks. Default: none.
    """

    def __init__(
        self,
        fitted: Fields,
        others: Fields | None = None,
        check: Check | None = None,
        parameters: Fields | None = None,
    ) -> None:
        self.fitted, self.others = fitted, {**(others or {}), **_ATTRIBUTES}
        self.parameters, self.check = {**(parameters or {}), **_PARAMETERS}, check

    def read(self, values: dict[str, Any], name: str, parameters: frozenset[str]) -> None:
        """Raise FileFormatError if the attributes are not those of an estimator.

        Examples
        --------
        >>> scaler = state({"scale_": Whole()})
        >>> scaler.read({"copy": True, "n_features_in_": 2, "scale_": 1}, "a", frozenset({"copy"}))
        >>> scaler.read({"copy": True, "scale_": 1}, "a", frozenset({"copy"}))
        Traceback (most recent call last):
        ...
        colk.errors.FileFormatError: a lacks 'n_features_in_'
        """
        is_fitted = not self.fitted.keys().isdisjoint(values)
        fields: Fields = dict.fromkeys(sorted(parameters), stored.Anything())
        fields |= {key: field for key, field in self.parameters.items() if key in parameters}
        fields |= self.fitted if is_fitted else {}
        check = self.check if is_fitted else None
        record = stored.Record({**fields, **self.others}, optional=self.others, check=check)
        record.read(values, name, {})


def state(
    fitted: Fields,
    others: Fields | None = None,
    check: Check | None = None,
    parameters: Fields | None = None,
) -> State:
    """Return the state of a class that knows the number of its features, the symbol "p"."""
    return State({"n_features_in_": Whole(same="p"), **fitted}, others, check, parameters)
