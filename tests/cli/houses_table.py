"""The table of houses that many tests of the command fit."""

import numpy as np

__all__ = ["write_houses"]


def write_houses(folder):
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
    path = folder / "houses.csv"
    path.write_text("\n".join(["size,age,city,price,kind", *lines]) + "\n")
    return path
