"""Decide how each column of a table is used, by the options and the first rows."""

import argparse
from dataclasses import dataclass
from typing import TYPE_CHECKING

from colk.cli.options import check_columns
from colk.cli.terminal import shown

if TYPE_CHECKING:
    from colk.tabular.model import Task
    from colk.tabular.reading import Source

__all__ = ["Schema", "SchemaColumn"]

# Largest number of columns in the printed table; the others are counted.
_SHOWN = 40


@dataclass(frozen=True)
class SchemaColumn:
    """A column of a table.

    Parameters
    ----------
    name, kind : str
        Name and contents of the column.
    gaps : float or None
        Share of the first rows without a value; None if it is unknown.
    use : str
        How the column is used.
    """

    name: str
    kind: str
    gaps: float | None
    use: str


@dataclass(frozen=True)
class Schema:
    """The columns of a table and their use.

    Parameters
    ----------
    target : str
        Column to predict.
    features, categorical, dates : tuple of str
        Columns to predict it from, and which of them are categories and dates.
    task : {"regression", "classification"}
        Whether targets are numbers or labels.
    columns : tuple of Column
        All columns of the table.
    month_first : frozenset of str
        The dates with the month first.
    """

    target: str
    features: tuple[str, ...]
    categorical: tuple[str, ...]
    dates: tuple[str, ...]
    task: "Task"
    columns: tuple[SchemaColumn, ...]
    month_first: frozenset[str] = frozenset()

    @classmethod
    def found(cls, arguments: argparse.Namespace, source: "Source") -> "Schema":
        """Return the schema that follows from the options and the first rows.

        Parameters
        ----------
        arguments : Namespace
            The options of `colk fit`.
        source : Source
            The data.
        """
        _check_names(arguments, source)
        target, first = arguments.target, source.first_rows
        left_out = _left_out(arguments, source)
        features = tuple(arguments.features or (n for n in source.kinds if n not in left_out))
        if not features:
            raise ValueError(f"{source.paths[0]} has no column to predict {target} from")
        named = arguments.categorical or ()
        _check_features(source, [name for name in features if name not in named])
        dates = tuple(n for n in features if first.holds(n, "date") and n not in named)
        categorical = tuple(
            n for n in features if n in named or (source.kinds[n] == "text" and n not in dates)
        )
        stray = [name for name in named if name not in features]
        if stray:
            raise ValueError(f"categorical column {stray[0]!r} is not among the features")
        labelled = source.kinds[target] == "text"
        if labelled and arguments.task is None and target in first.decimal_commas:
            raise ValueError(f"the target {target} has decimal commas; add --decimal ,")
        if arguments.task is None and first.holds(target, "date"):
            raise ValueError(
                f"the target {target} has dates or times; convert it to numbers, such as days"
            )
        if labelled and arguments.task == "regression":
            raise ValueError(f"the target {target} is text; use --task classification")
        task: Task = arguments.task or ("classification" if labelled else "regression")
        given = arguments.month_first
        found = first.month_first if given is None else dates if given else ()
        month_first = frozenset(found).intersection(dates)
        columns = []
        commas = first.decimal_commas
        are_features, are_categories, are_dates = map(frozenset, (features, categorical, dates))
        for name in source.kinds:
            use = "category" if name in are_categories else "number, standardised"
            if name in are_categories and name not in named and name in commas:
                use = "category; for decimal commas add --decimal ,"
            if name in are_dates:
                order = " with the month first" if name in month_first else ""
                use = f"date{order}: trend, and time of day, of week and of year"
            if name == target:
                use = f"target: {'labels' if task == 'classification' else 'numbers'}"
                use += _advice(source, target) if arguments.task is None else ""
            elif name not in are_features:
                use = f"left out: {left_out.get(name, 'not among --features')}"
            columns.append(SchemaColumn(name, _kind(source, name), first.gaps(name), use))
        return cls(target, features, categorical, dates, task, tuple(columns), month_first)

    def lines(self) -> list[str]:
        """Return the table as lines of text.

        Examples
        --------
        >>> size = SchemaColumn("size", "numbers", 0.25, "number, standardised")
        >>> Schema("price", ("size",), (), (), "regression", (size,)).lines()
        ['column  kind     gaps  use', 'size    numbers  25 %  number, standardised', '']
        """
        rows = [
            (shown(each.name), each.kind, _percent(each.gaps), each.use)
            for each in self.columns[:_SHOWN]
        ]
        table = [("column", "kind", "gaps", "use"), *rows]
        widths = [max(len(row[i]) for row in table) for i in range(4)]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in table
        ]
        more = len(self.columns) - len(rows)
        return [*lines, *([f"and {more:,} more columns"] if more else []), ""]


def _advice(source: "Source", target: str) -> str:
    """Return how to make labels of a target with few numbers, or ""."""
    first = source.first_rows
    n = first.few_numbers(target)
    if source.kinds[target] == "text" or not n or first.n_rows <= 2 * n:
        return ""
    return f", of {n} values; --task classification makes them labels"


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100.0 * share:.0f} %"


def _kind(source: "Source", name: str) -> str:
    first = source.first_rows
    if first.holds(name, "nested"):
        return "lists, objects"
    if first.holds(name, "date"):
        return "dates"
    if source.kinds[name] == "number":
        dressed = first.dressed.get(name)
        return "numbers" if dressed is None else f"numbers, as {' '.join(dressed.split())}"
    values = first.n_values(name)
    return "text" if values is None else f"text, {values} value{'s' if values > 1 else ''}"


def _check_names(arguments: argparse.Namespace, source: "Source") -> None:
    """Raise if an option names a missing column, or if two options name the same column."""
    from colk.tabular.reading import listed

    if arguments.target is None:
        there = listed(source.kinds)
        raise ValueError(f"name the column to predict with --target; the columns are {there}")
    lists = (arguments.features, arguments.categorical, arguments.exclude)
    named = [arguments.target, *(name for names in lists for name in names or ())]
    check_columns(source, (*named, *([arguments.id] if arguments.id is not None else [])))
    for option, names in (("--exclude", arguments.exclude), ("--id", [arguments.id])):
        for name in names or ():
            if name == arguments.target or name in (arguments.features or ()):
                raise ValueError(f"{option} {name} is also the target or a feature")


def _left_out(arguments: argparse.Namespace, source: "Source") -> dict[str, str]:
    """Return the columns that are not features unless --features names them, with the reasons."""
    first = source.first_rows
    reasons = dict.fromkeys(first.unreadable, "lists, objects or bytes")
    reasons |= dict.fromkeys(first.row_numbers, "row numbers; use them with --features")
    reasons |= dict.fromkeys(first.distinct, "all values differ; use it with --features")
    for name, (present, n_rows) in first.rare.items():
        reasons[name] = f"only {present} of the first {n_rows} rows have it"
    for name in arguments.categorical or ():
        reasons.pop(name, None)
    reasons |= dict.fromkeys(arguments.exclude or (), "--exclude")
    if arguments.id is not None:
        reasons[arguments.id] = "--id"
    return {**reasons, arguments.target: "target"}


def _check_features(source: "Source", names: list[str]) -> None:
    """Raise if columns are unusable; the message says what to do with them."""
    nested = [name for name in names if source.first_rows.holds(name, "nested")]
    if nested:
        raise ValueError(
            f"{_holding(nested)} lists, objects or bytes: split them into columns, or choose other "
            "columns with --features"
        )


def _holding(names: list[str]) -> str:
    """Return the beginning of a message: "column a holds", or "columns a, b hold"."""
    from colk.tabular.reading import listed

    return f"columns {listed(names)} hold" if names[1:] else f"column {listed(names)} holds"
