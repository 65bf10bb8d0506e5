"""The formula of each kernel, written once for every language that models are exported to."""

import math
from typing import Any, Protocol

from colk._validation import Array
from colk.kernels import (
    Constant,
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    Product,
    RationalQuadratic,
    Scaled,
    Sum,
)

__all__ = ["Writer", "express"]

# exp(−800) is 0, and a finite argument keeps (1 + s)·exp(−s) from being inf·0.
_FAR = 800.0


class Writer(Protocol):
    """What a language must be able to say; its expressions are texts."""

    def squares(self, scales: Array) -> str:
        """Σ_k ((x_k − d_k)·scales_k)²."""

    def city_block(self, scales: Array) -> str:
        """Σ_k |x_k − d_k|·scales_k."""

    def dot(self) -> str:
        """Σ_k x_k d_k."""

    def wave(self) -> str:
        """The cosine of 2π(Σ_k x_k d_k + phase), of an atom that is a frequency and a phase."""

    def number(self, value: float) -> str:
        """A number, for every pair of a point and an atom."""

    def plus(self, a: str, b: str) -> str:
        """The sum a + b."""

    def times(self, a: str, b: str) -> str:
        """The product a·b."""

    def power(self, a: str, exponent: float) -> str:
        """The power a^exponent."""

    def exp(self, a: str) -> str:
        """The exponential e^a."""

    def root(self, a: str) -> str:
        """√a."""

    def least(self, a: str, bound: float) -> str:
        """The smaller of both."""

    def keep(self, a: str) -> str:
        """The same, computed once."""


def express(kernel: Kernel | None, writer: Writer, n_features: int) -> str:
    """Write κ(d, x) of a built-in kernel, of sums, products and scalings of such, or of waves.

    Examples
    --------
    >>> from colk.export.python import PlainWriter
    >>> from colk.kernels import Linear
    >>> express(2.0 * Linear() + Linear(), PlainWriter(), n_features=1)
    '((2.0 * dot(x, d)) + dot(x, d))'
    """
    w = writer
    if kernel is None:
        return w.wave()
    kind: Any = type(kernel)
    of: Any = kernel
    if kind is Gaussian:
        return w.exp(w.times(w.number(-0.5), w.squares(of._scales_of(n_features))))
    if kind is Laplacian:
        return w.exp(w.times(w.number(-1.0), w.city_block(of._scales_of(n_features))))
    if kind is Matern:
        return _matern(of.nu, w.squares(of._scales_of(n_features)), w)
    if kind is RationalQuadratic:
        share = w.times(w.number(0.5 / of.shape), w.squares(of._scales_of(n_features)))
        return w.power(w.plus(w.number(1.0), share), -of.shape)
    if kind is Polynomial:
        return w.power(w.plus(w.dot(), w.number(of.offset)), of.degree)
    if kind is Linear:
        return w.dot()
    if kind is Constant:
        return w.number(of.value)
    if kind is Scaled:
        return w.times(w.number(of.factor), express(of.kernel, w, n_features))
    if kind in (Sum, Product):
        parts = [express(part, w, n_features) for part in of.parts]
        total = parts[0]
        for part in parts[1:]:
            total = w.plus(total, part) if kind is Sum else w.times(total, part)
        return total
    raise TypeError(
        f"{kernel!r} is a kernel of your own, which cannot be exported: only built-in kernels and "
        "their sums, products and scalings can"
    )


def _matern(nu: float, squares: str, w: Writer) -> str:
    """exp(−s), times 1 + s or 1 + s + s²/3, where s = √(2ν)·r."""
    s = w.keep(w.least(w.times(w.number(math.sqrt(2.0 * nu)), w.root(squares)), _FAR))
    decay = w.exp(w.times(w.number(-1.0), s))
    if nu == 0.5:
        return decay
    factor = w.plus(w.number(1.0), s)
    if nu == 2.5:
        factor = w.plus(factor, w.times(w.number(1.0 / 3.0), w.times(s, s)))
    return w.times(factor, decay)
