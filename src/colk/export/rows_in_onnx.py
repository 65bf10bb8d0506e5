"""The encoding of a table's rows as nodes of an ONNX graph."""

from typing import Any

import numpy as np

from colk._encoding.columns import Column
from colk._encoding.dates import CYCLES, DAY, YEAR_2000
from colk._encoding.effects import FARTHEST_EFFECT, FREQUENCIES, CategoryEffects
from colk._encoding.encoder import TableEncoder
from colk._encoding.gap_columns import MISSING
from colk._encoding.gaps import FARTHEST, GapFiller
from colk._validation import Array
from colk.export.nodes import Nodes

__all__ = ["ML", "ML_OPSET", "add_encoding"]

# The set of operators with LabelEncoder, and its version.
ML, ML_OPSET = "ai.onnx.ml", 3

_INT64, _DOUBLE = 7, 11  # codes of types in ONNX
_UNKNOWN = -1


def add_encoding(encoder: TableEncoder, nodes: Nodes) -> str:
    """Add the nodes that turn raw columns (n, 1) into points (n, width); return their name.

    Parameters
    ----------
    encoder : TableEncoder
        The encoder.
    nodes : Nodes
        The graph, whose inputs have the names of the columns.
    """
    writer = _RowsWriter(encoder, nodes)
    return writer.write()


class _RowsWriter:
    """Adds the steps of `TableEncoder` one after the other."""

    def __init__(self, encoder: TableEncoder, nodes: Nodes) -> None:
        self.encoder, self.nodes = encoder, nodes

    def write(self) -> str:
        """Add all nodes and return the name of the encoded rows."""
        encoder = self.encoder
        numbers, circles, codes = [], [], []
        for column in encoder.columns:
            if column.kind == "category":
                codes.append(self._coded(column))
            elif column.kind == "number":
                numbers.append(column.name)
            else:
                past = self._of("Sub", column.name, YEAR_2000)
                numbers.append(self._of("Div", past, CYCLES["year"]))
                circles += [
                    self._circle(column.name, cycle, function)
                    for cycle in encoder.cycles[column.name]
                    for function in ("Sin", "Cos")
                ]
        measured = [*numbers, *circles]
        marks = [self._cast(self._of("IsNaN", numbers[place])) for place in encoder.gap_places]
        cells = self._joined([*self._held(measured, 0), *self._held(codes, len(measured))])
        n_kept = len(measured)
        held_codes = [self._columns(cells, [place]) for place in encoder.categorical]
        kept = self._filled(self._columns(cells, range(n_kept)), held_codes) if n_kept else None
        rows = self._joined([*([kept] if kept else []), *held_codes, *marks])
        return self._joined([rows, *(self._effects(rows, each) for each in encoder.effects)])

    # -- small steps -------------------------------------------------------------------------

    def _number(self, value: Any) -> str:
        return self.nodes.constant(np.asarray(value, dtype=np.float64))

    def _of(self, operator: str, *operands: Any, **attributes: Any) -> str:
        """Add a node of names and numbers."""
        names = [each if isinstance(each, str) else self._number(each) for each in operands]
        return self.nodes.add(operator, names, **attributes)

    def _cast(self, values: str, to: int = _DOUBLE) -> str:
        return self.nodes.add("Cast", [values], to=to)

    def _joined(self, parts: list[str]) -> str:
        return parts[0] if len(parts) == 1 else self.nodes.add("Concat", parts, axis=1)

    def _columns(self, values: str, places: Any, axis: int = 1) -> str:
        which = self.nodes.constant(np.array(list(places), dtype=np.int64))
        return self.nodes.add("Gather", [values, which], axis=axis)

    # -- the columns -------------------------------------------------------------------------

    def _coded(self, column: Column) -> str:
        """Return the codes of a category; the empty string is a gap unless it is a value."""
        values = self.encoder.values_of(column.name)
        codes = {"": int(MISSING), **{value: code for code, value in enumerate(values, 1)}}
        found = self.nodes.add(
            "LabelEncoder",
            [column.name],
            domain=ML,
            keys_strings=list(codes),
            values_int64s=list(codes.values()),
            default_int64=_UNKNOWN,
        )
        return self._cast(found)

    def _circle(self, name: str, cycle: str, function: str) -> str:
        moment = name
        if cycle == "week":
            moment = self._of("Mul", self._of("Floor", self._of("Div", name, DAY)), DAY)
        angle = self._of("Mul", self._of("Div", moment, CYCLES[cycle]), 2.0 * np.pi)
        return self._of("Mul", self._of(function, angle), np.sqrt(2.0))

    def _held(self, parts: list[str], first: int) -> list[str]:
        """Return columns, with the known value instead of each constant one."""
        constants = self.encoder.constants
        known: dict[int, float] = {}
        if constants is not None:
            places = constants.places
            known = dict(zip(places.tolist(), constants.values[places].tolist(), strict=True))
        return [
            self._of("Where", self._anything(part), known[place], part) if place in known else part
            for place, part in enumerate(parts, first)
        ]

    def _anything(self, values: str) -> str:
        """Return True for each cell."""
        is_gap = self.nodes.add("IsNaN", [values])
        return self.nodes.add("Or", [is_gap, self.nodes.add("Not", [is_gap])])

    # -- gaps --------------------------------------------------------------------------------

    def _filled(self, kept: str, codes: list[str]) -> str:
        """Return numbers, dates and circles without gaps."""
        encoder = self.encoder
        if encoder.filler is None:
            return self._of("Where", self._of("IsNaN", kept), encoder.typical_cells[None], kept)
        parts = [kept]
        for place, n_values in encoder.predictors.items():
            values = np.arange(1.0, n_values + 1.0)[None]
            same = self._cast(self._of("Equal", codes[place], values))
            is_gap = self._of("Equal", codes[place], MISSING)
            parts.append(self._of("Where", is_gap, np.full((1, n_values), np.nan), same))
        n_kept = len(encoder.typical_cells)
        filled = self._filled_from_others(self._joined(parts), encoder.filler)
        return self._columns(filled, range(n_kept))

    def _filled_from_others(self, cells: str, filler: GapFiller) -> str:
        """Return cells with the expected values of gaps: one linear system for each row."""
        size = len(filler.unit)
        is_gap = self._of("IsNaN", cells)
        standard = self._of("Div", self._of("Sub", cells, filler.center[None]), filler.unit[None])
        deviations = self._of("Where", is_gap, 0.0, standard)
        column, row = (
            self.nodes.add("Unsqueeze", [is_gap, self.nodes.constant(np.array([axis]))])
            for axis in (2, 1)
        )
        either = self.nodes.add("Or", [column, row])
        between = self._of("Where", either, np.eye(size)[None], filler.correlations[None])
        right = self.nodes.add("Unsqueeze", [deviations, self.nodes.constant(np.array([2]))])
        weights = self._solved(self.nodes.add("Concat", [between, right], axis=2), size)
        spread = self.nodes.add("Mul", [weights, self._number(filler.correlations[None])])
        axis = self.nodes.constant(np.array([1], dtype=np.int64))
        expected = self.nodes.add("ReduceSum", [spread, axis], keepdims=0)
        bounded = self._of("Min", self._of("Max", expected, -FARTHEST), FARTHEST)
        values = self._of("Add", self._of("Mul", bounded, filler.unit[None]), filler.center[None])
        return self._of("Where", is_gap, values, cells)

    def _solved(self, system: str, size: int) -> str:
        """Return the solutions (n, size, 1) of systems (n, size, size + 1), by elimination."""
        for k in range(size):
            row = self._columns(system, [k])
            pivot = self._columns(row, [k], axis=2)
            row = self.nodes.add("Div", [row, pivot])
            column = self._columns(system, [k], axis=2)
            unit = np.zeros((1, size, 1))
            unit[0, k] = 1.0
            change = self.nodes.add("Mul", [self._of("Sub", column, unit), row])
            system = self.nodes.add("Sub", [system, change])
        return self._columns(system, [size], axis=2)

    # -- effects of categories ---------------------------------------------------------------

    def _effects(self, rows: str, effects: CategoryEffects) -> str:
        """Return the effects of one category, of shape (n, q)."""
        table: Array = effects.tables[0]
        code = self._columns(rows, [effects.column])
        is_known = self._of("And", self._of("GreaterOrEqual", code, 0.0), self._below(code, table))
        place = self._cast(self._of("Where", is_known, code, 0.0), _INT64)
        terms = self._terms(rows, effects)
        found = []
        for values in table:
            chosen = self.nodes.add("Gather", [self._number(values), place], axis=0)
            axis = self.nodes.constant(np.array([1], dtype=np.int64))
            chosen = self.nodes.add("Squeeze", [chosen, axis])
            total = self.nodes.add("ReduceSum", [self._of("Mul", chosen, terms), axis], keepdims=1)
            found.append(self._of("Where", is_known, total, 0.0))
        return self._joined(found)

    def _below(self, code: str, table: Array) -> str:
        return self._of("Less", code, float(table.shape[1]))

    def _terms(self, rows: str, effects: CategoryEffects) -> str:
        one = self._of("Add", self._of("Mul", self._columns(rows, [effects.column]), 0.0), 1.0)
        if not effects.numbers:
            return one
        numbers = self._of("Sub", self._columns(rows, effects.numbers), effects.center[None])
        numbers = self._of("Div", numbers, effects.unit[None])
        numbers = self._of("Min", self._of("Max", numbers, -FARTHEST_EFFECT), FARTHEST_EFFECT)
        parts = [one, numbers]
        for frequency in FREQUENCIES if effects.has_curves else ():
            turned = self._of("Mul", numbers, frequency)
            parts += [self._of("Sin", turned), self._of("Cos", turned)]
        return self._joined(parts)
