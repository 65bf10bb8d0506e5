"""TeX formulas between dollar signs: MathML for pages, Unicode for the terminal and CSV files."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from latex2mathml.converter import convert
from latex2mathml.symbols_parser import convert_symbol
from markupsafe import Markup, escape

__all__ = ["plain", "typeset"]

# The converter leaves the spacing of these operators to the browser, which sets them too wide.
_TIGHT = {
    "<mo>&#x0002F;</mo>": '<mo lspace="0" rspace="0">/</mo>',
    "<mo>&#x022C6;</mo>": '<mo lspace="0" rspace="0">⋆</mo>',
}

# A formula and the sign after it, which stays on its line.
_ENDS = re.compile(r"(<math(?:(?!</math>).)*</math>)([.,;:)]+)")


def typeset(value: Any) -> Any:
    """Escape text for a page and convert its formulas to MathML.

    Parameters
    ----------
    value : str, sequence or mapping
        Text; in a sequence or a mapping, each text is converted.

    Examples
    --------
    >>> typeset("$T$ & more")
    Markup('<math ...><mrow><mi>T</mi></mrow></math> &amp; more')
    >>> typeset({"a": ["<b>"]})
    {Markup('a'): [Markup('&lt;b&gt;')]}
    """
    if isinstance(value, Mapping):
        return {typeset(key): typeset(part) for key, part in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [typeset(part) for part in value]
    text = Markup("").join(
        _mathml(piece) if formula else escape(piece) for formula, piece in _pieces(value)
    )
    return Markup(_ENDS.sub(r'<span class="whole">\1\2</span>', str(text)))


def plain(text: str) -> str:
    r"""Write the formulas of a text in Unicode, on one line.

    Examples
    --------
    >>> plain(r"falls like $T^{-1/2}$, $\varepsilon = \alpha^2$")
    'falls like T^(−1/2), ε = α^2'
    """
    return "".join(_unicode(piece) if formula else piece for formula, piece in _pieces(text))


def _pieces(text: str) -> list[tuple[bool, str]]:
    """Split a text at its dollar signs; every second piece is a formula."""
    return [(i % 2 == 1, piece) for i, piece in enumerate(text.split("$"))]


@cache
def _mathml(formula: str) -> Markup:
    text = convert(formula)
    for loose, tight in _TIGHT.items():
        text = text.replace(loose, tight)
    return Markup(text)


def _unicode(formula: str) -> str:
    text = re.sub(r"\\sqrt\{([^{}]*)\}", r"√\1", formula)
    text = re.sub(r"\^\{([^{}]{2,})\}", r"^(\1)", text)
    text = text.replace("{", "").replace("}", "").replace(r"\,", " ")
    return re.sub(r"\\[A-Za-z]+", _symbol, text).replace("-", "−")


def _symbol(found: re.Match[str]) -> str:
    """Return the character of a command; a function such as log keeps its name."""
    code = convert_symbol(found[0])
    return chr(int(code, 16)) if code else found[0][1:]
