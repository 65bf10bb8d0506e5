"""A table as people have it: dates, text and gaps. `write` makes it, with a seed."""

import numpy as np


def columns(n: int, seed: int) -> dict[str, np.ndarray]:
    """Hourly orders: the amount depends on time, shop, product, price and weather; 4 % of cells
    of each column but the target are missing.
    """
    rng = np.random.default_rng(seed)
    start = np.datetime64("2023-01-01T00:00:00")
    when = start + np.sort(rng.integers(0, 3 * 365 * 24, n)) * np.timedelta64(3600, "s")
    seconds = (when - start).astype(float)
    hour, day = seconds / 3600.0 % 24.0, seconds / 86400.0
    shop = rng.integers(0, 12, n)
    product = np.minimum(rng.zipf(1.3, n) - 1, 299)
    price, temperature = rng.lognormal(2.0, 0.5, n), rng.normal(12.0, 8.0, n)
    of_shop, of_product = rng.normal(0.0, 6.0, 12), rng.normal(0.0, 6.0, 300)
    amount = 50.0 + of_shop[shop] + of_product[product] + 10.0 * np.sin(hour / 24.0 * 2.0 * np.pi)
    amount += 6.0 * np.cos(day / 365.25 * 2.0 * np.pi) + 0.005 * day
    amount += np.where(shop % 3 == 0, 0.5, -0.2) * (temperature - 12.0) - 4.0 * np.log(price)
    amount += rng.normal(0.0, 3.0, n)
    table = {
        "order": np.arange(n).astype(str),
        "when": np.datetime_as_string(when, unit="m"),
        "shop": np.char.add("shop ", shop.astype(str)),
        "product": np.char.add("p", product.astype(str)),
        "price": price.round(2).astype(str),
        "temperature": temperature.round(1).astype(str),
        "amount": amount.round(2).astype(str),
    }
    for name in ("when", "shop", "product", "price", "temperature"):
        table[name] = np.where(rng.uniform(size=n) < 0.04, "", table[name])
    return table


def write(path, table, rows=slice(None)) -> None:
    """Write rows of the table as CSV."""
    lines = zip(*(values[rows] for values in table.values()), strict=True)
    path.write_text("\n".join([",".join(table), *map(",".join, lines)]) + "\n")
