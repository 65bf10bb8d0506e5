"""The classes of scikit-learn that files may hold, with checks of their fitted state.

`STATES` has an entry for each class: fields of its fitted attributes, and of the parameters whose
values must be narrower than scikit-learn's own checks. Symbols are lengths that several attributes
share: "p" features in, "k" features out, "n" samples, "t" targets, "c" classes.
"""

from colk.persistence._fitted.columns import COLUMNS
from colk.persistence._fitted.compositions import COMPOSITIONS
from colk.persistence._fitted.projections import PROJECTIONS
from colk.persistence._fitted.selection import SELECTION
from colk.persistence._fitted.state import State
from colk.persistence._fitted.texts import TEXTS

__all__ = ["STATES", "State"]

STATES: dict[str, State] = COLUMNS | COMPOSITIONS | PROJECTIONS | SELECTION | TEXTS
