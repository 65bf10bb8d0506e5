import numpy as np
import pytest

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
    rng = np.random.default_rng(0)
    size, age = rng.normal(100.0, 30.0, 1200), rng.uniform(0.0, 50.0, 1200)
    city = rng.choice(["Bonn", "Rome"], 1200)
    price = 2.0 * size + 40.0 * np.sin(age / 8.0) + 30.0 * (city == "Rome")
    kind = np.where(price > 220.0, "dear", "cheap")
    lines = [
        f"{a:.3f},{b:.3f},{c},{d:.3f},{e}"
        for a, b, c, d, e in zip(size, age, city, price, kind, strict=True)
    ]
    lines[10], lines[700], lines[900] = "wide,1,Bonn,2,dear", "1,2", "x,3,Rome,1,cheap"
    path = tmp_path / "houses.csv"
    path.write_text("\n".join(["size,age,city,price,kind", *lines]) + "\n")
    return path
