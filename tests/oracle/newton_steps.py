"""Compares `NewtonCOLK` with dense Gauss–Newton steps: streams, states and compressed steps."""

from types import SimpleNamespace

import numpy as np
from gauss_newton import GaussNewton, State, extended, projected, squared_distance

from colk import reference
from colk.kernels import Gaussian, Laplacian
from colk.losses import Softmax
from colk.losses.scale import loss_scale
from colk.reference import gram
from colk.risks import Composition

KERNEL = Gaussian(0.2)
ROUGH = Laplacian(0.5)  # Gram matrices of many points are well conditioned
POINTS = np.linspace(0.0, 1.0, 30)[:, None]


def stream(n, loss, n_outputs=1, seed=0, noise=0.1):
    rng = np.random.default_rng(seed)
    X = rng.random((n, 1))
    if isinstance(loss, Softmax):
        return X, (3.0 * X).astype(int).astype(float)
    phases = 6.0 * X + np.arange(n_outputs)
    Y = np.sin(phases) + noise * rng.normal(size=(n, n_outputs))
    return X, np.where(Y > 0.0, 1.0, -1.0) if loss.kind == "binary" else Y


def contains(atoms, x):
    return bool((atoms == x).all(axis=1).any())


def make_oracle(learner):
    risk, settings = learner.risk, {}
    if isinstance(risk, Composition):  # the reference reads functions by their names
        risk = type("Composition", (SimpleNamespace,), {})(**risk._parameters())
    if learner.forgetting == "auto":
        settings["first_step"] = 1.0 / loss_scale(learner.loss)
    else:
        settings["forgetting"] = learner.forgetting
    return GaussNewton(
        learner.kernel, learner.loss, risk, 1, learner.n_outputs or 1, tracker=learner.tracker,
        tracking_rate=float(learner.tracking_rate.initial),
        prior=0.3 * loss_scale(learner.loss) if learner.prior == "auto" else learner.prior,
        trust=learner.trust, pairing=learner.pairing, **settings,
    )  # fmt: skip


def move(oracle, atoms):
    """Let the oracle take in the points of its window; new atoms are those of the learner."""
    points, _, _, bends = oracle.last
    state = oracle.state
    for i, x in enumerate(points):
        if not contains(state.atoms, x):
            assert contains(atoms, x) == (np.abs(oracle.slopes_at(state, i)).max() > 1e-12)
            if contains(atoms, x):
                state = extended(oracle.kernel, state, x, oracle.prior)
        oracle.note_curvature(bends[0, i], len(points))
        state = oracle.moved(state, i)
    oracle.state, oracle.last = state, None


def assert_same(learner, oracle, state):
    f, q = learner.last_function, oracle.n_outputs
    np.testing.assert_array_equal(f.atoms, state.atoms)
    expected = oracle.mixture(oracle.p, state, POINTS)
    size = max(1.0, np.abs(expected).max())
    np.testing.assert_allclose(f(POINTS).reshape(len(POINTS), q), expected, atol=1e-8 * size)
    np.testing.assert_allclose(learner.inner_estimate, oracle.g, rtol=1e-7, atol=1e-9)
    L = np.linalg.cholesky(learner.kernel.gram(f.atoms))
    P = L.T @ np.linalg.inv(state.precision) @ L
    np.testing.assert_allclose(learner.covariance, P, atol=1e-8 * np.abs(P).max(initial=0.0))
    if len(oracle.p) > 1:
        np.testing.assert_allclose(list(learner.experts.values()), oracle.p, rtol=1e-8)


def state_of(learner, n_functions=1):
    """The state of a learner: its function, or the experts that it mixes, and its covariance."""
    f = learner.last_function
    rows = f.weights.reshape(len(f.atoms), -1).T[None]
    if n_functions > 1:  # the rows behind f itself
        rows = learner._stream.pack()["dictionary"]["weights"]
        q = learner.n_outputs or 1
        rows = rows[q : (1 + n_functions) * q].reshape(n_functions, q, -1)
    L = np.linalg.cholesky(learner.kernel.gram(f.atoms))
    precision = L @ np.linalg.inv(learner.covariance) @ L.T
    return State(f.atoms, np.swapaxes(rows, 1, 2), precision)


def prices(kernel, state, p):
    """Σ_e p_e‖w_ej‖²/(K⁻¹)_jj: the squared H-norms that dropping an atom costs."""
    inverse = np.linalg.inv(gram(kernel, state.atoms, state.atoms))
    return np.einsum("e,emq->m", p, state.weights**2) / np.diag(inverse)


def conditioned(state, j):
    """The minimum of the quadratic over functions without atom j."""
    rest = np.arange(len(state.atoms)) != j
    precision = state.precision[np.ix_(rest, rest)]
    towards = (state.precision @ state.weights)[:, rest]
    return State(state.atoms[rest], np.linalg.solve(precision, towards), precision)


def compressed_step(oracle, eps, max_atoms=np.inf, keeps_posterior=False):
    """Return the state after the window, the H-norm of what is lost, and Σ_e p_e‖step‖² of points.

    A point becomes an atom if leaving it out costs more than what is left of ε. Where there are
    `max_atoms`, it must also be worth more than another one. Then KOMP drops atoms.
    """
    state, p, lost, moves, size = oracle.state, oracle.p, 0.0, [], len(oracle.last[0])
    kernel, known = oracle.kernel, len(state.atoms)
    for i, x in enumerate(oracle.last[0]):
        oracle.note_curvature(oracle.last[3][0, i], size)
        is_full = len(state.atoms) >= max_atoms
        prior = oracle.prior * (2.0 if keeps_posterior and is_full else 1.0)
        wide, kept = extended(kernel, state, x, prior), oracle.moved(state, i)
        K = gram(kernel, wide.atoms, wide.atoms)
        if 1.0 / np.linalg.inv(K)[-1, -1] <= 1e-9 * K[-1, -1]:
            moves.append(p @ squared_distance(kernel, kept, state))
            state = kept
            continue
        full = oracle.moved(wide, i)
        error = np.sqrt(p @ squared_distance(kernel, kept, full))
        enters = error > eps - lost
        if enters and is_full:
            enters = prices(kernel, full, p)[-1] > prices(kernel, state, p).min()
        lost += 0.0 if enters else error
        after = full if enters else kept
        moves.append(p @ squared_distance(kernel, after, state))
        state = after
    if len(state.atoms) == known:
        return state, lost, moves
    while keeps_posterior and len(state.atoms) > max_atoms:
        j = int(np.argmin(prices(kernel, state, p)))
        left = conditioned(state, j)
        apart = state.weights.copy()
        apart[:, np.arange(len(state.atoms)) != j] -= left.weights
        K = gram(kernel, state.atoms, state.atoms)
        lost += float(np.sqrt(np.einsum("emq,mn,enq->", apart, K, apart)))
        state = left
    priced = np.concatenate(np.sqrt(p)[:, None, None] * state.weights, axis=1)
    left, _, error, _ = reference.komp(
        kernel, state.atoms, priced, max(eps - lost, 0.0), at_most=max_atoms
    )
    return projected(kernel, state, left), lost + error, moves
