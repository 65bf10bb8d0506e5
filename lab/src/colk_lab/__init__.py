"""The laboratory of colk: it repeats the experiments of the paper and compares colk with others.

`colk_lab.reproduction` is `colk reproduce`, and `colk_lab.bench` is `colk bench`. Both run their
tasks by `colk_lab.runner`, which keeps the results of finished tasks. It uses the public names of
colk only.
"""

import warnings

from colk.errors import ClippedWarning

# The paper's settings clip gradients; the reports say how many.
warnings.simplefilter("ignore", ClippedWarning)
