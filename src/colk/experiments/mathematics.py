"""Formulas between dollars, as MathML for the page and as plain text for the terminal."""

import html
import re

__all__ = ["plain", "typeset"]

_SIGNS = {
    "alpha": "α",
    "beta": "β",
    "gamma": "γ",
    "delta": "δ",
    "epsilon": "ε",
    "eta": "η",
    "kappa": "κ",
    "lambda": "λ",
    "sigma": "σ",
    "ell": "ℓ",
    "nabla": "∇",
    "Omega": "Ω",
    "infty": "∞",
    "leq": "≤",
    "geq": "≥",
    "cdot": "·",
    "times": "×",
    "ldots": "…",
    "Vert": "‖",
    "star": "*",
    "log": "log",
    "exp": "exp",
    "sin": "sin",
    "quad": "\N{EM SPACE}",
}
# Brackets of the height of the line, and a slash without room about it.
_MANNERS = {
    **dict.fromkeys("()[]", ' stretchy="false"'),
    "/": ' lspace="0" rspace="0"',
    ",": ' lspace="0" rspace="0.3em"',
}
_TOKEN = re.compile(r"\\([A-Za-z]+)|(\d+(?:\.\d+)?)|([A-Za-z])|(\s+)|(.)")


def _inline(text: str) -> list[tuple[bool, str]]:
    """The text in pieces, and whether each is a formula."""
    return [(i % 2 == 1, piece) for i, piece in enumerate(text.split("$"))]


def typeset(text: str) -> str:
    r"""Text for the page: escaped, its formulas in MathML.

    Formulas know letters, numbers, signs, `^`, `_`, braces, `\frac`, `\sqrt` and Greek names.

    Examples
    --------
    >>> typeset("$T^2$ & more")
    '<math><msup><mi>T</mi><mn>2</mn></msup></math> &amp; more'
    """
    return "".join(
        f"<math>{_Formula(piece).row()}</math>" if formula else html.escape(piece)
        for formula, piece in _inline(text)
    )


def plain(text: str) -> str:
    r"""Text for the terminal and for tables of data: formulas in Unicode on one line.

    Examples
    --------
    >>> plain(r"falls like $T^{-1/2}$, $\epsilon = \alpha^2$")
    'falls like T^(−1/2), ε = α^2'
    """
    return "".join(_flat(piece) if formula else piece for formula, piece in _inline(text))


def _flat(formula: str) -> str:
    text = re.sub(r"\\frac\{([^{}]*)\}\{([^{}]*)\}", r"(\1)/(\2)", formula)
    text = re.sub(r"\\sqrt\{([^{}]*)\}", r"√\1", text)
    text = re.sub(r"([\^_])\{([^{}])\}", r"\1\2", text)
    text = re.sub(r"\^\{([^{}]*)\}", r"^(\1)", text).replace("{", "").replace("}", "")
    text = re.sub(r"\\([A-Za-z]+)", lambda found: _SIGNS.get(found[1], found[1]), text)
    return text.replace("-", "−")


class _Formula:
    """A formula read from left to right."""

    def __init__(self, text: str) -> None:
        self._tokens = [found for found in _TOKEN.finditer(text) if not found[4]]
        self._place = 0

    def row(self) -> str:
        """Everything up to the end or a closing brace."""
        parts = []
        while self._place < len(self._tokens) and self._peek() != "}":
            parts.append(self._scripted())
        return "".join(parts)

    def _peek(self) -> str:
        return self._tokens[self._place][0] if self._place < len(self._tokens) else ""

    def _scripted(self) -> str:
        base, scripts = self._atom(), {}
        while self._peek() in ("^", "_"):
            mark = self._peek()
            self._place += 1
            scripts[mark] = self._atom()
        if len(scripts) == 2:
            return f"<msubsup>{base}{scripts['_']}{scripts['^']}</msubsup>"
        for mark, name in (("^", "msup"), ("_", "msub")):
            if mark in scripts:
                return f"<{name}>{base}{scripts[mark]}</{name}>"
        return base

    def _atom(self) -> str:
        """One letter, number, sign or group, as one element."""
        token = self._tokens[self._place]
        self._place += 1
        word, number, letter = token[1], token[2], token[3]
        if number:
            return f"<mn>{number}</mn>"
        if letter:
            return f"<mi>{letter}</mi>"
        if word == "frac":
            return f"<mfrac>{self._atom()}{self._atom()}</mfrac>"
        if word == "sqrt":
            return f"<msqrt>{self._atom()}</msqrt>"
        if word:
            sign = _SIGNS[word]
            if word in ("log", "exp", "sin"):
                return f'<mi>{sign}</mi><mspace width="0.17em"/>'
            return f"<mi>{sign}</mi>" if sign.isalpha() else f'<mo stretchy="false">{sign}</mo>'
        if token[0] == "{":
            inside = self.row()
            self._place += 1
            return f"<mrow>{inside}</mrow>"
        sign = html.escape(token[0].replace("-", "−"))
        return f"<mo{_MANNERS.get(sign, '')}>{sign}</mo>"
