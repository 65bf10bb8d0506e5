"""Tasks of `colk_lab.tables.scale`, which workers import: Dask sends only their names."""

import hashlib
import resource
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from colk.rkhs.polishing import Block

FEATURES = 10


def make_rows(place: int, size: int, total: int) -> Block:
    """Rows of Friedman's first function."""
    rng = np.random.default_rng([3, place])
    X = rng.random((size, FEATURES))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3]
    y = (y + 5 * X[:, 4] + rng.normal(size=size) - 14.0) / 5.0
    return Block(X, y, np.full(size, 1 / total))


def clocked(function: Callable[..., Any], block: Block, *arguments: Any) -> tuple[Any, ...]:
    """Results of a function of a partition, and its processor seconds."""
    began = time.process_time()
    found = function(block, *arguments)
    return (*found, time.process_time() - began)


def hashed(block: Block, times: int) -> tuple[()]:
    """Hash 64 MiB this many times."""
    zeros = bytes(2**26)
    for _ in range(times):
        hashlib.sha256(zeros).digest()
    return ()


def nothing(block: Block) -> tuple[()]:
    return ()


def peak() -> float:
    """Largest memory of this process, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def sent_to_workers(dask_worker: Any) -> int:
    """Bytes that a worker has sent to other workers."""
    return int(dask_worker.transfer_outgoing_bytes_total)


def make_points(block: np.ndarray, block_info: Any = None) -> np.ndarray:
    return make_rows(block_info[0]["chunk-location"][0], len(block), 1).points


def make_targets(block: np.ndarray, block_info: Any = None) -> np.ndarray:
    return make_rows(block_info[0]["chunk-location"][0], len(block), 1).targets
