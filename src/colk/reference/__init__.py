"""The specification: what the engine must equal, in the shortest NumPy that says it.

Everything is formed and solved anew at every step. Nothing here is fast, and nothing here is
shared with the engine: kernels, losses, risks, trackers and compressors are known by the names and
the parameters of their classes alone, and their formulas are written once more.

* `gram`, `losses`, `risks`, `trackers`: the formulas, for one sample.
* `komp`: the compressor, by brute force.
* `COLK`: Algorithm 1, with mini-batches. `NewtonCOLK`: with curvature; `Experts`: beside
  others; `ChosenPrior`: with a prior that it chooses. `ReferenceEvaluator`: policy evaluation;
  `ReferenceLSTD`: by least squares.
"""

from colk.reference import losses, risks, trackers
from colk.reference.colk import COLK
from colk.reference.experts import Experts
from colk.reference.kernels import gram
from colk.reference.komp import fit_weights, komp
from colk.reference.lstd import ReferenceLSTD
from colk.reference.newton import NewtonCOLK
from colk.reference.policy import ReferenceEvaluator
from colk.reference.priors import ChosenPrior

__all__ = [
    "COLK",
    "ChosenPrior",
    "Experts",
    "NewtonCOLK",
    "ReferenceEvaluator",
    "ReferenceLSTD",
    "fit_weights",
    "gram",
    "komp",
    "losses",
    "risks",
    "trackers",
]
