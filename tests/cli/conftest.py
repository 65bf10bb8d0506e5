import pytest
from houses_table import write_houses

from colk.cli import main


@pytest.fixture
def colk(capsys):
    """Run a command in this process: returns its exit code, output and errors."""

    def run(*arguments):
        capsys.readouterr()
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as exit_:
            code = exit_.code
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


@pytest.fixture
def houses(tmp_path):
    """A CSV file of 1200 rows, of which three cannot be used."""
    return write_houses(tmp_path)
