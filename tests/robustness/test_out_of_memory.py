"""If memory runs out, a learner keeps its state after the last step, and can continue."""

import numpy as np
import pytest

from colk.kernels import Gaussian
from colk.learners import NewtonCOLK

INJECTED = """
    import copy, sys
    import numpy as np
    from colk.compressors import KOMP, Merging
    from colk.kernels import Gaussian
    from colk.learners import BSGD, COLK, CompositionalBSGD, DoublySGD, NewtonCOLK
    from colk.learners import HedgedCOLK, HedgedNewtonCOLK, QuantileCOLK
    from colk.risks import CVaR, Variance
    from colk.rl import KernelLSTD, PolicyEvaluator

    buffers = next(m for n, m in sys.modules.items() if n.endswith("buffers") and "colk" in n)
    allocate = buffers.aligned
    modules = [
        m for n, m in sys.modules.items() if n.startswith("colk") and hasattr(m, "aligned")
    ]

    def fail_at(k):
        '''Let the k-th allocation of rows from now on fail.'''
        left = [k]

        def aligned(*size):
            left[0] -= 1
            if left[0] == 0:
                raise MemoryError
            return allocate(*size)

        for module in modules:
            module.aligned = aligned

    rng = np.random.default_rng(0)
    X = rng.uniform(-3.0, 3.0, size=(260, 2))
    y = np.sin(2.0 * X[:, 0]) + X[:, 1]

    def samples(learner, rows):
        if isinstance(learner, (KernelLSTD, PolicyEvaluator)):
            return X[rows], y[rows], X[::-1][rows]
        return X[rows], y[rows]

    def state(learner):
        '''All numbers of a state, flat, without the scratch of P.'''
        def flat(value):
            if isinstance(value, dict):
                return [x for each in value.values() for x in flat(each)]
            return [np.array(value, dtype=float)]
        packed = learner.get_state()["stream"]
        if "P" in packed:
            packed["P"] = learner.covariance
        return flat(packed)

    def equal(a, b):
        return len(a) == len(b) and all(np.array_equal(x, z, equal_nan=True) for x, z in zip(a, b))

    make = lambda: {learner}
    twin, states = make(), []
    for row in range(len(X)):
        states.append(state(twin.learn(*samples(twin, slice(row, row + 1)))))
    failures = 0
    for k in range(1, 1000):
        learner = make().learn(*samples(twin, slice(0, 20)))
        fail_at(k)
        try:
            learner.learn(*samples(learner, slice(20, None)))
        except MemoryError:
            failures += 1
        else:
            break
        finally:
            fail_at(0)
        now = state(learner)
        place = next((i for i, each in enumerate(states) if equal(now, each)), None)
        assert place is not None, f"allocation {{k}}: the state is one that never was"
        learner.learn(*samples(learner, slice(place + 1, None)))
        assert equal(state(learner), states[-1]), f"allocation {{k}}: it went on differently"
    assert failures >= {least}, failures
    print(failures)
"""

LEARNERS = {
    "COLK": ("COLK(Gaussian(0.1), compressor=KOMP(eps=0.0))", 8),
    "pairs": ("COLK(Gaussian(0.1), risk=Variance(0.1), compressor=KOMP(eps=0.0))", 8),
    "batches": ("COLK(Gaussian(0.1), batch_size=4, compressor=KOMP(eps=0.0))", 8),
    "NewtonCOLK": ("NewtonCOLK(Gaussian(0.1), compressor=KOMP(eps=0.0))", 10),
    "experts": ("NewtonCOLK(Gaussian(0.1), forgetting='auto', compressor=KOMP(eps=0.0))", 10),
    "prior": ("NewtonCOLK(Gaussian(0.1), prior='auto', compressor=KOMP(eps=0.0))", 10),
    "KernelLSTD": ("KernelLSTD(Gaussian(0.1), 0.9, compressor=KOMP(eps=0.0))", 10),
    "PolicyEvaluator": ("PolicyEvaluator(Gaussian(0.1), 0.9, compressor=KOMP(eps=0.0))", 8),
    "Merging": ("BSGD(Gaussian(0.1), max_atoms=200)", 7),
    "DoublySGD": ("DoublySGD(Gaussian(0.1))", 7),
    "HedgedCOLK": ("HedgedCOLK(Gaussian(0.1), risk=CVaR(0.1), compressor=KOMP(eps=0.0))", 8),
    "HedgedNewtonCOLK": (
        "HedgedNewtonCOLK(Gaussian(0.1), risk=CVaR(0.1), compressor=KOMP(eps=0.0))", 10
    ),
    "QuantileCOLK": ("QuantileCOLK(Gaussian(0.1), compressor=KOMP(eps=0.0))", 10),
}  # fmt: skip


@pytest.mark.parametrize("name", LEARNERS)
def test_any_failed_allocation_leaves_the_last_state(alone, name):
    """Every allocation of the stream fails once; the learner then ends as its twin."""
    learner, least = LEARNERS[name]
    alone(INJECTED.format(learner=learner, least=least))


@pytest.mark.parametrize(
    "learner",
    [
        "NewtonCOLK(Gaussian(0.02), compressor=KOMP(eps=0.0))",
        "KernelLSTD(Gaussian(0.02), 0.9, compressor=KOMP(eps=0.0))",
    ],
    ids=["NewtonCOLK", "KernelLSTD"],
)
def test_a_limit_of_memory_is_met_between_two_buffers(alone, learner):
    """The dictionary fits, but P does not; without the limit the learner continues."""
    alone(
        f"""
    import resource
    import numpy as np
    from colk.compressors import KOMP
    from colk.kernels import Gaussian
    from colk.learners import NewtonCOLK
    from colk.rl import KernelLSTD

    rng = np.random.default_rng(0)
    X = rng.uniform(-3.0, 3.0, size=(1100, 3))
    y = np.sin(2.0 * X[:, 0])
    learner = {learner}
    more = (X,) if isinstance(learner, KernelLSTD) else ()
    learner.learn(X[:400], y[:400], *(each[:400] for each in more))
    pages = int(open("/proc/self/statm").read().split()[0])
    limit = pages * resource.getpagesize() + (int(1.5 * 8 * 1100**2))
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (limit, before[1]))
    failed = False
    try:
        learner.learn(X[400:], y[400:], *(each[400:] for each in more))
    except MemoryError:
        failed = True
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
    assert failed, "there was enough memory"
    done = learner.steps
    learner.learn(X[done:], y[done:], *(each[done:] for each in more))
    assert learner.steps == 1100
    """
    )


@pytest.mark.parametrize("error", [MemoryError, KeyboardInterrupt])
def test_an_error_in_the_choice_of_the_prior_does_not_undo_half_a_step(monkeypatch, error):
    """The step before the choice was made: its sample counts once, and the next step chooses."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-3.0, 3.0, size=(500, 2))
    y = np.sin(2.0 * X[:, 0]) + X[:, 1]
    learner, original, left = NewtonCOLK(Gaussian(0.5), prior="auto"), np.linalg.eigh, [1]

    def eigh(matrix):
        left[0] -= 1
        if left[0] == 0:
            raise error
        return original(matrix)

    monkeypatch.setattr(np.linalg, "eigh", eigh)
    with pytest.raises(error):
        learner.learn(X, y)
    assert learner.steps == 200
    assert learner.loss_sums[1] == 200.0
    learner.learn(X[200:], y[200:])
    assert learner.steps == 500
    assert left[0] == -2  # the choice was made up for after 201 steps, the next one is after 402
    assert np.abs(learner.predict(X) - y).mean() < 0.1
