"""The pool: order, number of threads, errors and nesting."""

import _thread
import os
import sys
import threading
import time

import joblib
import numpy as np
import pytest
from threadpoolctl import threadpool_info

from colk._engine.thread_pool import (
    _cgroup_cores,
    each_in_threads,
    map_in_threads,
    n_threads,
    use_threads,
)
from colk.kernels import Gaussian


def blas_threads(_):
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_results_come_in_order_from_this_many_threads():
    barrier = threading.Barrier(3, timeout=10.0)

    def wait(item):
        barrier.wait()  # passes only if three threads meet
        return item

    with use_threads(3):
        assert map_in_threads(wait, range(6)) == list(range(6))


def test_blas_has_one_thread_inside():
    with use_threads(2):
        assert all(set(found) <= {1} for found in map_in_threads(blas_threads, range(4)))


def test_nested_work_stays_in_its_thread():
    def names(_):
        return {threading.get_ident(), *map_in_threads(lambda _: threading.get_ident(), range(50))}

    with use_threads(3):
        assert [len(found) for found in map_in_threads(names, range(4))] == [1, 1, 1, 1]


def test_work_inside_a_single_item_is_shared():
    barrier = threading.Barrier(2, timeout=10.0)  # passes only if two threads meet
    with use_threads(2):
        [found] = map_in_threads(lambda _: map_in_threads(lambda _: barrier.wait(), range(4)), "a")
    assert sorted(found) == [0, 0, 1, 1]


def test_an_error_of_nested_work_reaches_the_caller():
    def fail(item):
        raise ValueError(f"of nested item {item}")

    with use_threads(2), pytest.raises(ValueError, match="of nested item 0"):
        map_in_threads(lambda _: map_in_threads(fail, range(8)), range(8))


def test_the_outermost_caller_sets_the_number():
    with use_threads(1), use_threads(4):
        assert len(set(map_in_threads(lambda _: threading.get_ident(), range(8)))) == 1


def test_an_error_reaches_the_caller_and_stops_the_rest():
    done = []

    def work(item):
        if item == 1:
            raise ValueError("of item 1")
        done.append(item)
        return item

    with use_threads(2), pytest.raises(ValueError, match="of item 1"):
        map_in_threads(work, range(1000))
    assert len(done) < 20


def test_the_first_item_that_fails_raises_its_error():
    failed = threading.Event()

    def work(item):
        if item == 2:
            failed.set()
        else:
            failed.wait(timeout=10.0)  # item 2 fails before the others
        raise ValueError(f"of item {item}")

    with use_threads(3), pytest.raises(ValueError, match="of item 0"):
        map_in_threads(work, range(9))


def test_a_call_inside_a_half_read_one_raises_its_error():
    def fail(item):
        raise ValueError(f"of item {item}")

    with use_threads(2):
        results = each_in_threads(abs, range(100))
        next(results)  # the other thread now waits for this one to read on
        time.sleep(0.2)
        with pytest.raises(ValueError, match="of item 0"):
            map_in_threads(fail, range(4))
        assert list(results) == list(range(1, 100))


def test_few_results_are_computed_ahead():
    taken = []

    def items():
        for item in range(100):
            taken.append(item)
            yield item

    with use_threads(2):
        results = each_in_threads(abs, items())
        assert next(results) == 0
        assert len(taken) <= 4
        results.close()


def test_n_jobs_is_read_as_in_scikit_learn():
    cores = joblib.cpu_count()
    assert n_threads(None) == n_threads(-1) == cores
    assert n_threads(5) == 5
    assert n_threads(-2) == max(cores - 1, 1)
    assert n_threads(-100) == 1
    with joblib.parallel_config(n_jobs=3):
        assert n_threads(None) == 3
    for bad in (0, 1.5, "all", True):
        with pytest.raises(ValueError, match="n_jobs must be None or an integer other than 0"):
            n_threads(bad)


@pytest.mark.parametrize(
    ("files", "cores"),
    [
        ({"cpu.max": "150000 100000"}, 2),
        ({"cpu.max": "max 100000"}, sys.maxsize),
        ({"cpu/cpu.cfs_quota_us": "100000", "cpu/cpu.cfs_period_us": "100000"}, 1),
        ({"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, sys.maxsize),
        ({}, sys.maxsize),
    ],
)
def test_the_limit_of_a_container_is_read(files, cores, tmp_path):
    (tmp_path / "cpu").mkdir()
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert _cgroup_cores(tmp_path) == cores


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_a_worker_of_joblib_has_one_thread(backend):
    run = joblib.Parallel(n_jobs=2, backend=backend)
    assert run(joblib.delayed(n_threads)(None) for _ in range(2)) == [1, 1]


def test_the_error_state_of_numpy_is_that_of_the_caller():
    with use_threads(2), np.errstate(over="raise"), pytest.raises(FloatingPointError):
        map_in_threads(np.exp, np.full(4, 1e4))


def test_the_bits_do_not_depend_on_the_number_of_threads():
    X = np.random.default_rng(0).normal(size=(3000, 4))

    def total(start):
        return Gaussian(1.0).gram(X[start : start + 500], X[:50]).sum(axis=0)

    found = []
    for count in (1, 2, 5):
        with use_threads(count):
            found.append(sum(map_in_threads(total, range(0, 3000, 500))).tobytes())
    assert found[0] == found[1] == found[2]


def test_threads_start_once_in_a_context_and_end_with_it():
    barrier, before = threading.Barrier(2, timeout=10.0), _thread._count()

    def names(_):
        barrier.wait()
        return threading.get_ident()

    with use_threads(2):
        first = set(map_in_threads(names, range(20)))
        again = set(map_in_threads(names, range(20)))
        assert first == again
        assert len(first) == 2 == _thread._count() - before
    wait_for_threads(before)


def wait_for_threads(count):
    """A thread counts until its very end, which is after the call that waits for it."""
    patience = time.monotonic() + 10.0
    while _thread._count() > count:
        assert time.monotonic() < patience
        time.sleep(0.001)


EVERY_CALL = """
    import os, signal, sys, time, _thread
    from colk._engine.thread_pool import map_in_threads, use_threads

    def square(item):
        time.sleep(0.0002)
        return item * item

    def run():
        with use_threads(2):
            return map_in_threads(square, range(6))

    def interrupted(k):
        # Raise KeyboardInterrupt where the k-th Python function begins, as a signal would.
        calls = 0

        def trace(frame, event, arg):
            nonlocal calls
            calls += event == "call" and frame.f_code is not run.__code__
            if calls == k:
                sys.settrace(None)
                raise KeyboardInterrupt

        sys.settrace(trace)
        try:
            run()
        except KeyboardInterrupt:
            return None
        finally:
            sys.settrace(None)
        return calls

    expected = run()
    total = interrupted(-1)
    assert total > 50, total
    while _thread._count():
        time.sleep(0.001)
    for k in range(1, total + 1):
        child = os.fork()
        if child == 0:
            assert interrupted(k) is None
            patience = time.monotonic() + 5.0
            while _thread._count():
                assert time.monotonic() < patience, "a thread is left"
                time.sleep(0.001)
            os._exit(0 if run() == expected else 1)
        patience = time.monotonic() + 20.0
        while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0):
            if time.monotonic() > patience:
                os.kill(child, signal.SIGKILL)
                raise SystemExit(f"it hangs after an interrupt at call {k} of {total}")
            time.sleep(0.001)
        assert ended[1] == 0, f"it fails after an interrupt at call {k} of {total}"
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_an_interrupt_at_any_call_leaves_no_thread_and_no_lock(alone):
    """The conditions of `threading` stay locked if an interrupt comes while they are released."""
    alone(EVERY_CALL)
