"""`python -m colk`."""

import sys

from colk.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
