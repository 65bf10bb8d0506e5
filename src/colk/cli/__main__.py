"""`python -m colk.cli`."""

from colk.__main__ import run

if __name__ == "__main__":
    run()
