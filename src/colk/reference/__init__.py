"""The reference implementation: the specification in short NumPy.

Every step recomputes everything. Nothing here is fast, and nothing is shared with the engine:
losses, risks, trackers and compressors are recognised by the names and parameters of their classes,
and their formulas are written again. Kernels are the exception: their classes state their formulas
(`colk.kernels.formulas`), and these are evaluated with NumPy.

* `gram`, `losses`, `risks`, `trackers`: the formulas, for one sample.
* `komp`: the compressor, by brute force.
* `COLK`: Algorithm 1, with mini-batches. `ReferenceEvaluator`: policy evaluation.

Second-order steps, the mixture of experts, the search for a prior and least-squares temporal
differences have no reference here; tests compare them with least squares, fixed share and
exhaustive search.
"""

from colk.reference import losses, risks, trackers
from colk.reference.colk import COLK
from colk.reference.kernels import gram
from colk.reference.komp import fit_weights, komp
from colk.reference.policy import ReferenceEvaluator

__all__ = [
    "COLK",
    "ReferenceEvaluator",
    "fit_weights",
    "gram",
    "komp",
    "losses",
    "risks",
    "trackers",
]
