"""Declarations of what a class stores in a file, and the check of stored values against them.

A class declares its fields beside its code, for example::

    @stores(function=Object(KernelExpansion), error=Number(at_least=0.0))
    class Certificate: ...

`pack` and `restore` do the rest. `colk.persistence` turns packed values into files.
"""

from colk._stored.declared import Budget, declaration_of, pack, restore, stores
from colk._stored.fields import (
    MOST,
    Anything,
    Array,
    Choice,
    Count,
    Either,
    Field,
    Flag,
    ListOf,
    Number,
    Object,
    Optional,
    Record,
    Size,
    Text,
    Texts,
    Triangle,
    TupleOf,
    refuse,
)
from colk._stored.memory import Memory, padding

__all__ = [
    "MOST",
    "Anything",
    "Array",
    "Budget",
    "Choice",
    "Count",
    "Either",
    "Field",
    "Flag",
    "ListOf",
    "Memory",
    "Number",
    "Object",
    "Optional",
    "Record",
    "Size",
    "Text",
    "Texts",
    "Triangle",
    "TupleOf",
    "declaration_of",
    "pack",
    "padding",
    "refuse",
    "restore",
    "stores",
]
