from concurrent.futures import ThreadPoolExecutor

import pytest
from shop_table import FEATURES, table


@pytest.fixture(scope="session")
def pool():
    with ThreadPoolExecutor(1) as executor:
        yield executor


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    """Return the path of a CSV or Parquet file of the table with one target, or of three files."""
    folder, written = tmp_path_factory.mktemp("shops"), {}

    def path_of(target, form):
        if (target, form) not in written:
            frame, targets, _ = table()
            whole = frame[list(FEATURES)].assign(**{target: targets[target]})
            written[target, form] = _write(whole, folder / f"{target}.{form}", form)
        return written[target, form]

    return path_of


def _write(frame, path, form):
    if form == "parquet":
        pytest.importorskip("pyarrow")
        frame.to_parquet(path, index=False)
    else:
        frame.to_csv(path, index=False)
    return str(path)
