"""A bound on the model order that holds for the KOMP of this library."""

import math

from colk._validation import check_number
from colk.theory.estimation import Constants, square

__all__ = ["bound_atoms"]


def bound_atoms(constants: Constants, step_size: float, eps: float) -> float:
    """Bound the model order M; the bound is of order (W/ε)^{2p}.

    If a step of COLK increases the model order, then each κ(d, ·) is afterwards at least
    ε/(√2 max(W, αC)) away from the span of the other atoms, where W bounds the absolute weights.
    (With mini-batches of B pairs, √2 becomes √(2B), and W bounds the weights during the step as
    well.) Since ‖κ(x, ·) − κ(x', ·)‖² ≤ 2L_κ‖x − x'‖, atoms at the distance χ in H are
    r = χ²/(2L_κ) apart in the domain, and balls of radius r/2 around them do not overlap.

    The paper bounds M by a number of order (α/ε)^{2p} (Theorem 1), but a step of its proof is
    false. The page "The number of atoms" of the documentation has a proof of both statements.

    Examples
    --------
    >>> from colk.theory import Constants, bound_atoms
    >>> constants = Constants(sides=(1.0,), kernel_lipschitz=10.0, weight_bound=0.1)
    >>> round(bound_atoms(constants, step_size=0.1, eps=0.05))
    161
    """
    check_number(step_size, "step_size", above=0.0)
    check_number(eps, "eps", at_least=0.0)
    if eps == 0.0:
        return math.inf
    p = len(constants.sides)
    largest = max(step_size * constants.gradient_bound, constants.weight_bound)
    separation = eps / math.sqrt(2.0) / largest if largest > 0.0 else math.inf
    radius = min(1e300, square(separation) / (2.0 * constants.kernel_lipschitz) / 2.0)
    if not radius > 0.0 or p > 330:  # for any radius, 2^p over the unit ball is beyond floats
        return math.inf
    unit_ball = math.pi ** (p / 2) / math.gamma(p / 2 + 1)
    return float(math.prod((s + 2.0 * radius) / radius for s in constants.sides) / unit_ball)
