"""The benchmark: colk and other methods on the same data, including problems where colk is worse.

`colk bench` runs it and writes a page and a CSV file. A *track* answers one question (batch
regression, streams, intervals, …). It has *problems*, and *peers*, the methods that are compared.
"""

from colk_lab.bench.bench import Bench, bench
from colk_lab.bench.cells import BenchPlan, Cell, Measure, Track
from colk_lab.bench.tracks import TRACKS

__all__ = ["TRACKS", "Bench", "BenchPlan", "Cell", "Measure", "Track", "bench"]
