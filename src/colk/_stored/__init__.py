"""Declarations of the fields that a class stores, and checks of stored values.

A class declares its fields next to its code, for example::

    @stores(function=Object(KernelExpansion), error=Number(at_least=0.0))
    class Certificate: ...

`pack` and `restore` use the declarations. `colk.persistence` writes packed values to files.
"""

from colk._stored.declared import Budget, declaration_of, pack, restore, stores
from colk._stored.fields import (
    MOST,
    Anything,
    Array,
    Count,
    Either,
    Field,
    Flag,
    ListOf,
    Number,
    Object,
    OneOf,
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
from colk._stored.sparse import sparse_matrix

__all__ = [
    "MOST",
    "Anything",
    "Array",
    "Budget",
    "Count",
    "Either",
    "Field",
    "Flag",
    "ListOf",
    "Memory",
    "Number",
    "Object",
    "OneOf",
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
    "sparse_matrix",
    "stores",
]
