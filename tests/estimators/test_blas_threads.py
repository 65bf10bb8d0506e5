"""A fit uses one BLAS thread, and leaves the process as it was."""

import os
import signal
import threading

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

from colk import COLKRegressor
from colk._engine import blas_threads
from colk._engine.blas_threads import one_blas_thread
from colk.model.fit import Fit

POOLS = ThreadpoolController().select(user_api="blas")


def counts():
    return {pool["num_threads"] for pool in POOLS.info()}


@pytest.fixture(autouse=True)
def _several_threads():
    with threadpool_limits(4, user_api="blas"):
        if counts() != {4}:
            pytest.skip("this BLAS has a fixed number of threads")
        yield


def test_a_fit_uses_one_thread(monkeypatch):
    seen = []
    inside = Fit.run

    def run(self, rows):
        seen.append(counts())
        return inside(self, rows)

    monkeypatch.setattr(Fit, "run", run)
    X = np.random.default_rng(0).normal(size=(60, 2))
    COLKRegressor().fit(X, X[:, 0])
    assert seen == [{1}]
    assert counts() == {4}


def test_overlapping_contexts_restore_the_count():
    """The context that began first ends first, in another thread than the second."""
    second_is_in, first_has_ended = threading.Event(), threading.Event()

    def second():
        with one_blas_thread():
            second_is_in.set()
            first_has_ended.wait(10.0)
            seen.append(counts())

    seen: list[set[int]] = []
    thread = threading.Thread(target=second)
    with one_blas_thread():
        thread.start()
        second_is_in.wait(10.0)
        assert counts() == {1}
    first_has_ended.set()
    thread.join()
    assert seen == [{1}]
    assert counts() == {4}
    with one_blas_thread():
        assert counts() == {1}
    assert counts() == {4}


class OwnCounts:
    """A BLAS in which each thread has its own count, like MKL."""

    internal_api = "mkl"

    def __init__(self):
        self.counts = threading.local()

    @property
    def num_threads(self):
        return getattr(self.counts, "n", 4)

    def set_num_threads(self, n):
        self.counts.n = n


def test_each_thread_restores_its_own_count(monkeypatch):
    library, seen = OwnCounts(), []
    monkeypatch.setattr(blas_threads, "_libraries", lambda _: [library])
    second_is_in, first_has_ended = threading.Event(), threading.Event()

    def second():
        with one_blas_thread():
            second_is_in.set()
            first_has_ended.wait(10.0)
            seen.append(library.num_threads)
        seen.append(library.num_threads)

    thread = threading.Thread(target=second)
    with one_blas_thread():
        thread.start()
        second_is_in.wait(10.0)
        with one_blas_thread():
            pass
        assert library.num_threads == 1
    assert library.num_threads == 4
    first_has_ended.set()
    thread.join()
    assert seen == [1, 4]


def test_a_thread_limits_blas_while_another_one_controls_it():
    """The fixture sets the count in the main thread, and threadpoolctl then obeys only it."""
    seen = []

    def work():
        with one_blas_thread():
            seen.append(counts())
        seen.append(counts())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [{1}, {4}]


def test_an_error_restores_the_count():
    with pytest.raises(ValueError, match="infinity"):
        COLKRegressor().fit([[np.inf]], [1.0])
    assert counts() == {4}


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no such timer")
def test_an_interrupt_anywhere_leaves_no_user():
    """The next context restores the counts that an interrupted one left."""

    def interrupt(*_):
        raise KeyboardInterrupt

    with one_blas_thread():
        pass  # finds the libraries
    before, n_interrupted = signal.signal(signal.SIGALRM, interrupt), 0
    try:
        for after in np.random.default_rng(0).uniform(1e-6, 3e-4, size=300):
            try:
                signal.setitimer(signal.ITIMER_REAL, after)
                for _ in range(200):
                    with one_blas_thread():
                        assert counts() == {1}
                signal.setitimer(signal.ITIMER_REAL, 0.0)
            except KeyboardInterrupt:
                n_interrupted += 1
    finally:
        signal.signal(signal.SIGALRM, before)
    with one_blas_thread():
        assert counts() == {1}
    assert counts() == {4}
    assert n_interrupted > 200


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_of_a_fork_does_not_wait_for_the_lock():
    with one_blas_thread():
        child = os.fork()
        if child == 0:
            with one_blas_thread():
                os._exit(0 if counts() == {1} else 1)
        assert os.waitpid(child, 0)[1] == 0
