"""A fork while another thread learns: the model of the child is complete, and nothing hangs."""

import os

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

FORKS = """
    import os, signal, tempfile, threading, time
    import numpy as np
    from colk import load, save
    from colk.compressors import KOMP
    from colk.kernels import Gaussian
    from colk.learners import COLK, NewtonCOLK

    rng = np.random.default_rng(0)
    X = rng.random((200_000, 2))
    y = np.sin(6.0 * X[:, 0]) + X[:, 1]
    rows = [dict(zip("ab", x)) for x in X[:2000].tolist()]

    def child(work):
        '''Run `work` in a child; fail if it does not end well within a minute.'''
        pid = os.fork()
        if pid == 0:
            try:
                signal.alarm(60)
                work()
                os._exit(0)
            except BaseException as error:
                os.write(2, repr(error).encode())
                os._exit(1)
        _, status = os.waitpid(pid, 0)
        assert status == 0, f"the child ended with status {status}"
"""

MODELS = {
    "COLK": (
        "COLK(Gaussian(0.1), compressor=KOMP(max_atoms=100))",
        "model.learn(X[a:b], y[a:b])",
        "model.predict(X[:5])",
    ),
    "NewtonCOLK": (
        "NewtonCOLK(Gaussian(0.1), compressor=KOMP(max_atoms=100))",
        "model.learn(X[a:b], y[a:b])",
        "model.predict(X[:5], return_std=True)",
    ),
    "KernelLSTD": (
        "KernelLSTD(Gaussian(0.1), 0.5, compressor=KOMP(max_atoms=100))",
        "model.learn(X[a:b], y[a:b], X[a + 1 : b + 1])",
        "model.value(X[:5])",
    ),
    "COLKRegressor": (
        "COLKRegressor(kernel='laplacian')",
        "model.partial_fit(X[a:b], y[a:b])",
        "model.predict(X[:5])",
    ),
    "river": (
        "RiverRegressor(kernel='laplacian')",
        "[model.learn_one(rows[i % 2000], float(y[i])) for i in range(a, b)]",
        "model.predict_one(rows[0])",
    ),
}


def test_the_child_predicts_learns_and_saves(alone):
    alone(
        FORKS
        + f"""
    from colk import COLKRegressor
    from colk.river import COLKRegressor as RiverRegressor
    from colk.rl import KernelLSTD

    MODELS = {MODELS!r}
    """
        + """
    def fork_while_it_learns(make, learn, predict):
        stop = threading.Event()
        names = {**globals(), "model": eval(make)}

        def teach(a, b):
            exec(learn, {**names, "a": a, "b": b})

        def go_on():
            start = 2000
            while not stop.is_set():
                teach(start, start + 2000)
                start = start % 100_000 + 2000

        def work():
            eval(predict, names)
            teach(0, 100)
            with tempfile.TemporaryDirectory() as folder:
                save(names["model"], folder + "/m.colk")
                load(folder + "/m.colk")

        teach(0, 2000)
        thread = threading.Thread(target=go_on)
        thread.start()
        try:
            for _ in range(3):
                time.sleep(0.01)
                child(work)
        finally:
            stop.set()
            thread.join()
        eval(predict, names)

    for name, model in MODELS.items():
        print(name, flush=True)
        fork_while_it_learns(*model)
    """,
        timeout=180.0,
    )


def test_two_threads_fork_while_two_learn(alone):
    """Forks take turns, and a thread that holds a lock and waits for another stops no fork."""
    alone(
        FORKS
        + """
    from colk import COLKRegressor

    models = [COLKRegressor(kernel="laplacian").partial_fit(X[:500], y[:500]) for _ in range(3)]
    stop, failed = threading.Event(), []

    def go_on(model):
        while not stop.is_set():
            model.partial_fit(X[:500], y[:500])

    def fork():
        try:
            for _ in range(5):
                child(lambda: [model.predict(X[:5]) for model in models])
        except BaseException as error:
            failed.append(error)

    learning = [threading.Thread(target=go_on, args=(model,)) for model in models]
    forking = [threading.Thread(target=fork) for _ in range(2)]
    for thread in learning + forking:
        thread.start()
    for thread in forking:
        thread.join()
    stop.set()
    for thread in learning:
        thread.join()
    assert not failed, failed
    """,
        timeout=180.0,
    )


def test_a_fork_from_within_a_step(alone):
    """The loss forks: parent and child both end the step, with the same model."""
    alone(
        FORKS
        + """
    from colk.losses import CustomLoss

    pids = []

    def value(f, y):
        if y == 7.0 and not pids:
            pids.append(os.fork())
        return 0.5 * (f - y) ** 2

    def slope(f, y):
        return f - y

    model = COLK(Gaussian(0.1), CustomLoss(value, slope)).learn(X[:50], y[:50])
    model.learn(X[50:53], [1.0, 7.0, 2.0]).learn(X[53:100], y[53:100])
    signal.alarm(60)
    if pids[0] == 0:
        os._exit(0 if model.steps == 100 else 1)
    assert os.waitpid(pids[0], 0)[1] == 0
    assert model.steps == 100
    """,
        timeout=180.0,
    )


def test_a_model_that_was_changing_for_too_long_says_so(alone):
    """Another thread keeps the lock: the child raises instead of waiting, the parent continues."""
    alone(
        FORKS
        + """
    from colk._engine import locks

    locks.PATIENCE = 0.2
    model = COLK(Gaussian(0.1)).learn(X[:50], y[:50])
    held, done = threading.Event(), threading.Event()

    def hold():
        with model.stream.lock:
            held.set()
            done.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()

    def work():
        for call in (lambda: model.predict(X[:5]), lambda: model.learn(X[:5], y[:5])):
            try:
                call()
            except RuntimeError as error:
                assert "forked while another thread was changing this model" in str(error)
            else:
                raise AssertionError("a model that may be torn was used")
        COLK(Gaussian(0.1)).learn(X[:50], y[:50]).predict(X[:5])
        child(lambda: None)

    child(work)
    done.set()
    thread.join()
    model.learn(X[:5], y[:5])
    """,
        timeout=180.0,
    )
