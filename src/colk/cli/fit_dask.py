"""`colk fit --dask`: learn a model from files that are read by the workers of a cluster."""

import argparse
import sys
import time

from colk.cli.interrupts import interruptible
from colk.cli.new_model import new_model
from colk.cli.options import open_source, source_options
from colk.cli.terminal import beneath

__all__ = ["fit_on_cluster"]

# Options that are not supported on a cluster.
_UNSUPPORTED = (
    "fail_on_drift",
    "epochs", "holdout", "intervals", "checkpoint_every", "resume", "report", "rejects", "strict",
)  # fmt: skip


def fit_on_cluster(arguments: argparse.Namespace) -> None:
    """Fit a model on the workers of a Dask cluster, and write it.

    Parameters
    ----------
    arguments : Namespace
        The options of `colk fit`. `dask` is the address of a scheduler; "local" starts a local
        cluster of processes.
    """
    from colk.distributed.connection import connected
    from colk.distributed.tables import TableFile, fit_table
    from colk.persistence import save

    for option in _UNSUPPORTED:
        if getattr(arguments, option, None):
            raise ValueError(f"--{option.replace('_', '-')} does not work together with --dask")
    with open_source(arguments) as source:
        if source.waits:
            raise ValueError("--dask needs files, because the workers cannot read a pipe")
        model = new_model(arguments, source)
    options = source_options(arguments, arguments.n_features)
    files = [TableFile(path, model.wanted, options) for path in source.paths]
    began, address = time.monotonic(), None if arguments.dask == "local" else arguments.dask
    with interruptible(), connected(address) as client:
        print(f"colk: dashboard {client.dashboard_link}", file=sys.stderr)
        n_rows = fit_table(model, files, client, progress=_Progress())
        model.notes = {**model.notes, "data": source.paths, "rows": n_rows, "phase": "done"}
        save(model, arguments.model)
    print(f"{'model':<9}{arguments.model}")
    print(f"{'rows':<9}{n_rows:,} in {len(files)} files")
    print(f"{'atoms':<9}{model.n_atoms}")
    print(f"{'time':<9}{time.monotonic() - began:.1f} s")


class _Progress:
    """Shows passes and partitions on a terminal."""

    def __init__(self) -> None:
        self._passes = 0

    def __call__(self, name: str, done: int, total: int) -> None:
        self._passes += done == 1
        if sys.stderr.isatty():
            end = "\n" if done == total else ""
            print(f"\rpass {self._passes}: {done}/{total} files", end=end, file=beneath(sys.stderr))
