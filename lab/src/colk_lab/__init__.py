"""The laboratory of colk: it repeats the experiments of the paper and compares colk with others.

`colk_lab.reproduction` is `colk reproduce`, and `colk_lab.bench` is `colk bench`. Both run their
tasks by `colk_lab.runner`, which keeps the results of finished tasks. `colk_lab.tables` has the
scripts behind `docs/tables`. The laboratory uses the public names of colk only.
"""

import warnings

from colk import errors

# The paper's settings clip gradients; the reports say how many. Earlier versions of colk, with
# which `colk_lab.tables.engines` compares, have no such warning.
if hasattr(errors, "ClippedWarning"):
    warnings.simplefilter("ignore", errors.ClippedWarning)
