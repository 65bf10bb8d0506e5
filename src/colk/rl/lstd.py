"""Batch kernel LSTD, the reference for value functions without a closed form."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import lstsq

from colk._validation import Array, check_count, check_fraction, check_number
from colk.kernels import Kernel
from colk.rkhs.expansion import KernelExpansion
from colk.rl.transitions import Transitions

__all__ = ["kernel_lstd"]

# Transitions per block.
_BLOCK = 8192
# Number of candidate states for atoms.
_CANDIDATES = 4000
# Smallest novelty of a new atom, relative to κ(x, x).
_FLOOR = 1e-6


def kernel_lstd(
    kernel: Kernel,
    discount: float,
    states: ArrayLike,
    rewards: ArrayLike,
    next_states: ArrayLike,
    terminated: ArrayLike | None = None,
    n_atoms: int = 400,
    regularization: float = 1e-6,
    seed: int = 0,
) -> KernelExpansion:
    """Solve E[κ(d_i, x)δ] = λ(Kw)_i over all atoms d_i for V = Σ_j w_j κ(d_j, ·).

    Pivoted Cholesky chooses the atoms among the states, most novel first.

    Parameters
    ----------
    kernel : Kernel
        The kernel κ.
    discount : float
        The discount γ, in (0, 1].
    states, rewards, next_states, terminated : arrays
        Transitions, as in `PolicyEvaluator.learn`.
    n_atoms : int, default=400
        Largest number of atoms.
    regularization : float, default=1e-6
        The regularisation λ.
    seed : int, default=0
        Seed for the choice of candidate atoms.

    Examples
    --------
    >>> from colk.kernels import Gaussian
    >>> from colk.rl import LinearQuadratic, kernel_lstd, simulate
    >>> mdp = LinearQuadratic.spiral(1)
    >>> V = kernel_lstd(Gaussian(0.5), 0.9, *simulate(mdp, 20_000, seed=0))
    >>> abs(float(V([[0.5]])[0]) + 2.5) < 0.1
    True
    """
    t = Transitions.checked(states, rewards, next_states, terminated)
    gamma = check_fraction(discount, "discount")
    check_number(regularization, "regularization", at_least=0.0)
    if t.n_transitions == 0:
        raise ValueError("kernel_lstd needs at least one transition")
    atoms = _novel_states(kernel, t.states, check_count(n_atoms, "n_atoms"), seed)
    matrix, vector = np.zeros((len(atoms), len(atoms))), np.zeros(len(atoms))
    for start in range(0, t.n_transitions, _BLOCK):
        block = t.part(slice(start, start + _BLOCK))
        here = kernel.gram(block.states, atoms)
        there = kernel.gram(block.next_states, atoms) * ~block.terminated[:, None]
        matrix += here.T @ (here - gamma * there)
        vector += here.T @ block.rewards
    matrix /= t.n_transitions
    vector /= t.n_transitions
    weights = lstsq(matrix + regularization * kernel.gram(atoms), vector)[0]
    return KernelExpansion(kernel, kernel.points(atoms), weights)


def _novel_states(kernel: Kernel, states: Array, n_atoms: int, seed: int) -> Array:
    """Choose states by pivoted Cholesky over a random sample, most novel first."""
    rng = np.random.default_rng(seed)
    chosen = rng.choice(len(states), size=min(_CANDIDATES, len(states)), replace=False)
    candidates = states[chosen]
    novelty = kernel.diagonal(candidates)
    floor = _FLOOR * novelty.max()
    rows, picked = np.zeros((n_atoms, len(candidates))), []
    for i in range(n_atoms):
        best = int(np.argmax(novelty))
        if novelty[best] <= floor:
            break
        column = kernel.column(candidates, candidates[best])
        rows[i] = (column - rows[:i].T @ rows[:i, best]) / np.sqrt(novelty[best])
        novelty -= rows[i] ** 2
        picked.append(best)
    return np.asarray(candidates[picked])
