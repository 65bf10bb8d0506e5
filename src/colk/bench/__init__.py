"""The benchmark: colk and other methods on the same data, with losses shown as well as wins.

`colk bench` runs it and writes one page and one CSV file. A *track* asks one question (batch
regression, streams, intervals, …). It has *problems* and *peers*; each peer is one class.
"""

from colk.bench.bench import Bench, bench
from colk.bench.cells import Cell, Measure, Plan, Track
from colk.bench.tracks import TRACKS

__all__ = ["TRACKS", "Bench", "Cell", "Measure", "Plan", "Track", "bench"]
