"""The stored fields of a TableEncoder."""

from typing import Any

import numpy as np

from colk import _stored as stored
from colk._encoding.columns import Column
from colk._encoding.constants import ConstantValues
from colk._encoding.dates import CYCLES
from colk._encoding.effects import CategoryEffects
from colk._encoding.gaps import GapFiller
from colk.errors import FileFormatError

__all__ = ["FEW_VALUES", "FIELDS", "StoredEncoder"]

# Categories with more values are not used to fill gaps.
FEW_VALUES = 10

FIELDS: dict[str, stored.Field] = {
    "names": stored.ListOf(stored.Text(), size="n_columns", at_least=1),
    "kinds": stored.ListOf(stored.Text(), size="n_columns"),
    "typical": stored.ListOf(stored.Number()),
    "cycles": stored.ListOf(stored.ListOf(stored.OneOf(*CYCLES))),
    "values": stored.ListOf(stored.ListOf(stored.Text())),
    "gaps": stored.ListOf(stored.Text()),
    "filler": stored.Optional(stored.Object(GapFiller)),
    "predictors": stored.ListOf(stored.Count(at_most=FEW_VALUES)),
    "effects": stored.ListOf(stored.Object(CategoryEffects)),
    "constants": stored.Optional(stored.Object(ConstantValues)),
}


class StoredEncoder:
    """Mixin that converts a TableEncoder to stored fields and back."""

    def _to_file(self: Any) -> dict[str, Any]:
        return {
            "names": [column.name for column in self.columns],
            "kinds": [column.kind for column in self.columns],
            "typical": list(self._typical.values()),
            "cycles": [list(cycles) for cycles in self._cycles.values()],
            "values": [list(codes)[1:] for codes in self._codes.values()],
            "gaps": self.gaps,
            "filler": self._filler,
            "predictors": [self._predictors.get(name, 0) for name in self._codes],
            "effects": self.effects,
            "constants": self.constants,
        }

    @classmethod
    def _from_file(cls: Any, values: dict[str, Any], budget: stored.Budget) -> Any:
        try:
            columns = [Column(*pair) for pair in zip(values["names"], values["kinds"], strict=True)]
            plain = cls(columns)
            predictors = zip(plain._codes, values["predictors"], strict=True)
            encoder = cls(
                columns,
                dict(zip(plain._typical, values["typical"], strict=True)),
                dict(zip(plain._cycles, values["cycles"], strict=True)),
                dict(zip(plain._codes, values["values"], strict=True)),
                values["gaps"],
                values["filler"],
                {name: count for name, count in predictors if count},
                values["effects"],
                values.get("constants"),
            )
        except ValueError as error:
            raise FileFormatError(f"the columns of a table are inconsistent: {error}") from None
        is_other = any(len(set(one)) < len(one) for one in (*values["values"], *values["cycles"]))
        is_other |= not set(values["gaps"]) <= set(plain._typical)
        if is_other or len(set(values["gaps"])) < len(values["gaps"]):
            raise FileFormatError("values, cycles or gaps of columns occur twice or are unknown")
        if encoder.constants is not None and len(encoder.constants.varies) != encoder.n_fixed:
            raise FileFormatError("the constant columns are those of another table")
        used = [column for effects in encoder.effects for column in effects.numbers]
        coded = [effects.column for effects in encoder.effects]
        if not set(coded) <= set(encoder.categorical) or len(set(coded)) < len(coded):
            raise FileFormatError("effects must belong to different categories")
        if any(column >= encoder.n_measured for column in used):
            raise FileFormatError("slopes must belong to columns of numbers")
        n_cells = encoder._cells(np.empty((0, encoder.n_fixed))).shape[1]
        if encoder._filler is not None and len(encoder._filler.unit) != n_cells:
            raise FileFormatError("the filler of gaps has other columns than the table")
        return encoder
