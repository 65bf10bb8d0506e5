"""What the site is built with, for tests to use: docs/_ext."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "docs" / "_ext"))
