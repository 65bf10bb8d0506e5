"""Ctrl-C interrupts learning, and the model keeps what it has learned until then."""

import signal

import pytest

LONG = """
    import os, signal, threading, time
    import numpy as np
    from colk.compressors import KOMP
    from colk.rkhs.features import RBFNetwork
    from colk.kernels import Gaussian, Laplacian
    from colk.learners import BSGD, COLK, SCGD
    from colk.risks import Variance
    from colk.rl import PolicyEvaluator

    # Shells start jobs in the background with Ctrl-C ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    rng = np.random.default_rng(0)
    n = 3_000_000
    X = rng.random((n, 3))
    y = np.sin(6.0 * X[:, 0])
    fired = []

    def fire():
        fired.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    def interrupted(call, *arrays):
        timer = threading.Timer(0.7, fire)
        timer.start()
        try:
            call(*arrays)
        except KeyboardInterrupt:
            heard = time.monotonic() - fired[0]
            assert heard < 1.5, f"heard after {heard:.1f} s"
        else:
            timer.cancel()
            raise AssertionError("not heard at all")
"""

# What takes some 15 s or more for 3 million samples, and how many samples a step takes.
LEARNERS = {
    "COLK": ("COLK(Laplacian(0.2), step_size=0.5, compressor=KOMP(eps=0.0, max_atoms=200))", 1),
    "pairs": (
        "COLK(Laplacian(0.2), risk=Variance(0.01), compressor=KOMP(eps=0.0, max_atoms=200))",
        2,
    ),
    "batches": ("COLK(Laplacian(0.2), compressor=KOMP(eps=0.0, max_atoms=300), batch_size=8)", 8),
}


@pytest.mark.parametrize(("learner", "samples"), LEARNERS.values(), ids=LEARNERS)
def test_an_interrupt_is_heard_and_leaves_what_was_learned(alone, learner, samples):
    alone(
        LONG
        + f"""
    learner = {learner}
    interrupted(learner.learn, X, y)
    taken = learner.steps * {samples}
    assert 0 < taken < n
    twin = {learner}.learn(X[:taken], y[:taken])
    assert twin.steps == learner.steps
    assert twin.last_function == learner.last_function
    assert twin.function == learner.function
    assert twin.error_spent == learner.error_spent
    np.testing.assert_array_equal(twin.inner_estimate, learner.inner_estimate)
    before = learner.steps
    learner.learn(X[-4000:], y[-4000:])
    assert learner.steps >= before + 4000 // {samples}
    assert np.isfinite(learner.predict(X[:100])).all()
    if {samples} == 1:
        twin.learn(X[-4000:], y[-4000:])
        assert twin.function == learner.function
    """
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "learner",
    [
        "BSGD(Gaussian(0.2), step_size=0.1)",
        "SCGD(RBFNetwork(500, 0.2, (0.0,) * 3, (1.0,) * 3))",
    ],
    ids=["BSGD", "SCGD"],
)
def test_other_methods_hear_an_interrupt(alone, learner):
    alone(
        LONG
        + f"""
    learner = {learner}.learn(X[:100], y[:100])
    before = learner.steps
    interrupted(learner.learn, X, y)
    assert before < learner.steps < n
    assert np.isfinite(learner.learn(X[:100], y[:100]).predict(X[:100])).all()
    """
    )


@pytest.mark.slow
def test_policy_evaluation_hears_an_interrupt(alone):
    alone(
        LONG
        + """
    evaluator = PolicyEvaluator(
        Laplacian(0.2), discount=0.9, compressor=KOMP(eps=0.0, max_atoms=200)
    )
    interrupted(evaluator.learn, X[:-1], y[:-1], X[1:])
    taken = evaluator.steps
    assert 0 < taken < n
    twin = PolicyEvaluator(Laplacian(0.2), discount=0.9, compressor=evaluator.compressor)
    twin.learn(X[:taken], y[:taken], X[1 : taken + 1])
    assert twin.function == evaluator.function
    """
    )


def test_an_interrupt_of_fit_leaves_an_estimator_that_works(alone):
    alone(
        LONG
        + """
    from colk import COLKRegressor

    model = COLKRegressor(kernel=Laplacian(0.2), eps=1e-6, random_state=0).fit(X[:500], y[:500])
    interrupted(model.partial_fit, X, y)
    assert model.n_steps_ < n
    assert np.isfinite(model.partial_fit(X[:100], y[:100]).predict(X[:100])).all()
    """
    )


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no such timer")
def test_a_fit_in_threads_ends_wherever_it_is_interrupted(alone):
    """Neither a fit nor its threads wait for ever; the next fit is as without interrupts.

    An interrupt while a fit waits for its threads leaves them, and each ends after its item.
    """
    alone(
        """
    import signal, time, _thread
    import numpy as np
    from colk import COLKRegressor

    def interrupt(*_):
        raise KeyboardInterrupt

    signal.signal(signal.SIGALRM, interrupt)
    rng = np.random.default_rng(0)
    X = rng.random((1500, 6))
    y = np.sin(6.0 * X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=1500)
    expected = COLKRegressor(random_state=0, n_jobs=1).fit(X, y).predict(X)
    n_interrupted = 0
    for after in rng.uniform(0.001, 0.15, size=25):
        try:
            signal.setitimer(signal.ITIMER_REAL, after)
            COLKRegressor(random_state=0, n_jobs=3).fit(X, y)
            signal.setitimer(signal.ITIMER_REAL, 0.0)  # the interrupt may arrive before this call
        except KeyboardInterrupt:
            n_interrupted += 1
    assert n_interrupted > 5
    patience = time.monotonic() + 60.0
    while _thread._count() and time.monotonic() < patience:
        time.sleep(0.01)
    assert _thread._count() == 0
    assert np.array_equal(COLKRegressor(random_state=0, n_jobs=3).fit(X, y).predict(X), expected)
    """,
        timeout=600.0,  # a fit takes 0.1 s alone, and seconds beside many others
    )
