import os
from concurrent.futures import ThreadPoolExecutor

import pytest


@pytest.fixture
def pool():
    with ThreadPoolExecutor(1) as executor:
        yield executor


@pytest.fixture(scope="session")
def client():
    """A cluster of two workers in this process."""
    distributed = pytest.importorskip("distributed")
    os.environ.setdefault("DASK_DISTRIBUTED__ADMIN__LOG_LENGTH", "0")
    with distributed.Client(
        processes=False, n_workers=2, threads_per_worker=1, dashboard_address=":0"
    ) as client:
        yield client
