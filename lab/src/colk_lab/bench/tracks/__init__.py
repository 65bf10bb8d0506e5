"""The tracks of the benchmark, one module each."""

from colk_lab.bench.cells import Track
from colk_lab.bench.tracks import (
    batch,
    bike,
    failures,
    intervals,
    latency,
    memory,
    outliers,
    published,
    scaling,
    series,
    small,
    streams,
    tails,
)

__all__ = ["TRACKS"]

TRACKS: dict[str, Track] = {
    track.key: track
    for track in (
        batch.REGRESSION_TRACK,
        batch.CLASSIFICATION_TRACK,
        streams.REGRESSION_TRACK,
        streams.CLASSIFICATION_TRACK,
        failures.TABLES_TRACK,
        failures.STREAMS_TRACK,
        bike.TRACK,
        series.TRACK,
        small.TRACK,
        intervals.TRACK,
        tails.TRACK,
        outliers.TRACK,
        scaling.TRACK,
        latency.TRACK,
        memory.TRACK,
        published.TRACK,
    )
}
