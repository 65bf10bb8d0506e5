"""Make the modules of docs/_ext importable in these tests."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "docs" / "_ext"))
