"""Damage the bytes of saved models: at random, and with knowledge of the format."""

import copy
import json
import math
import random
import resource
import struct
from pathlib import Path

import numpy as np

from colk.persistence.container import seal

PROLOGUE = 24
SLACK = 2**27  # bytes of address space beyond what a file may ask for

WILD_NUMBERS = [
    0, 1, -1, 2, 3, 7, 255, 10**4, 2**31 - 1, 2**31, 2**32, 2**53, 2**63 - 1,
    2**63, 2**64, -(2**63),
    0.5, -0.5, 1e-308, 5e-324, 1e-9, 1e9, 1e300, 1.7e308, -1.7e308, -0.0, 10**400,
]  # fmt: skip
WILD_DOUBLES = [
    0.0, -0.0, 1.0, -1.0, 1e-300, 5e-324, 1e150, 1e300, -1e300, 1.7e308,
    float("nan"), float("inf"), float("-inf"),
]  # fmt: skip
WILD_TEXTS = ["", "a", "os.system", "COLK", "Gaussian", "mean", "\x00", "é" * 50, "x" * 5000]
WILD_TREES = [None, True, False, [], {}, [[]], {"is": "float", "value": "nan"}]
WILD_TREES += [{"is": "float", "value": "inf"}, {"is": "tuple", "items": []}, {"is": "own"}]
WILD_TREES += [{"is": "array", "array": k} for k in (-1, 0, 1, 2, 99)]
WILD_TREES += [{"is": "Polynomial", "degree": 10**9, "offset": 1.0}]
WILD_TREES += [{"is": "CentralMoments", "order": 10**12, "weight": 0.1}]
WILD_TREES += [{"is": "RandomFourierFeatures", "kernel": {"is": "Linear"}, "n_components": 2**40}]


def damage(good: bytes, others: list[bytes], rng: random.Random) -> bytes:
    """Return a damaged file."""
    ways = [flip, cut, stretch, overwrite, huge_header, deep, swarm]
    ways += [retell] * 6 + [reweigh] * 4 + [reshape] * 3 + [splice] * 2
    return rng.choice(ways)(good, others, rng)


# -- random damage ---------------------------------------------------------------------------


def flip(good, others, rng):
    data = bytearray(good)
    for _ in range(rng.choice([1, 1, 2, 8])):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(data)


def cut(good, others, rng):
    return good[: rng.randrange(len(good))]


def stretch(good, others, rng):
    return good + rng.randbytes(rng.choice([1, 8, 64, 4096]))


def overwrite(good, others, rng):
    data, start = bytearray(good), rng.randrange(len(good))
    data[start : start + 16] = rng.randbytes(len(data[start : start + 16]))
    return bytes(data)


# -- damage with knowledge of the format -----------------------------------------------------


def parts(good):
    """Return the header and the body of a file."""
    (length,) = struct.unpack_from("<Q", good, 8)
    return json.loads(good[PROLOGUE : PROLOGUE + length]), good[PROLOGUE + length :]


def told(header, body):
    text = json.dumps(header).encode()
    return seal(text + b" " * (-(PROLOGUE + len(text)) % 8), body)


def huge_header(good, others, rng):
    length = rng.choice([2**20, 2**31, 2**63, 2**64 - 1, len(good), len(good) - PROLOGUE])
    return good[:8] + struct.pack("<Q", length) + good[16:]


def deep(good, others, rng):
    levels = rng.choice([70, 500, 2000, 100_000])
    if rng.random() < 0.5:
        text = b"[" * levels + b"]" * levels
    else:
        inner = '{"is":"Scaled","factor":1.0,"kernel":' * levels + "1" + "}" * levels
        text = (
            f'{{"format":"colk","version":1,"class":"Scaled","arrays":[],"model":{inner}}}'.encode()
        )
    return seal(text, b"")


def swarm(good, others, rng):
    """Return many small items."""
    item = rng.choice(["[]", "{}", "1", '""', '{"is":"Linear"}'])
    kind = rng.choice(["Sum", "Product", "tuple"])
    name = "items" if kind == "tuple" else "parts"
    many = ",".join([item] * rng.choice([100, 100, 100, 1000, 1000, 10_000]))
    kernel = f'{{"is":"{kind}","{name}":{{"is":"tuple","items":[{many}]}}}}'
    text = (
        '{"format":"colk","version":1,"class":"KernelExpansion","arrays":[],'
        f'"model":{{"is":"KernelExpansion","kernel":{kernel},"atoms":1,"weights":1}}}}'
    )
    return seal(text.encode(), b"")


def each_change(good):
    """Yield files in which one number, text or array of the model is another one.

    Of a pipeline, only what comes before its last step changes.
    """
    header, body = parts(good)
    tree = header["model"]
    if tree["is"].endswith(".Pipeline"):
        tree = dict(tree["attributes"]["items"])["steps"][:-1]
    found = list(places(tree))
    for holder, key in found:
        old = holder[key]
        if key == "array" or (holder.get("is") if isinstance(holder, dict) else 0) == "texts":
            continue  # the number of an array
        for new in plain_changes(old):
            holder[key] = new
            yield told(header, body)
        holder[key] = old
    used = {value for holder, key in found if type(value := holder[key]) is int and key in ARRAYS}
    arrays = arrays_of(header, body)
    for number in sorted(used):
        old = arrays[number]
        for new in array_changes(old):
            arrays[number] = new
            yield assembled(header, arrays)
        arrays[number] = old


# Keys of a tree whose values are numbers of arrays.
ARRAYS = ("array", "lengths", "text")


def plain_changes(old):
    """Yield replacements for a plain value."""
    if isinstance(old, dict) and old.get("is") in ("array", "objects", "texts", "sparse", "scalar"):
        yield from (None, [], 0)
    elif isinstance(old, (int, float)) or (isinstance(old, dict) and old.get("is") == "float"):
        yield from (0, -1, 2**63 - 1, 2**31, 10**9, 1e300, -0.5, not old, None)
        yield {"is": "float", "value": "nan"}
    elif isinstance(old, str):
        yield from ("", "a", "(a+)+$", "filename", 3)
    elif old is None:
        yield from (0, -1, 10**9, "a", [])
    elif isinstance(old, list) and old and not isinstance(old[0], (dict, list)):
        yield from ([], old[:-1], [*old, old[-1]], old[::-1])


def array_changes(old):
    """Yield replacements for an array: other values, one of them or all, and other shapes."""
    most = np.iinfo(old.dtype).max if old.dtype.kind in "iu" else 2**63 - 1
    values = [0, most, 1] if old.dtype.kind in "ub" else [0, -1, most, 10**5]
    for value in [np.nan, np.inf, 1e300] * (old.dtype.kind == "f") + values:
        yield np.full_like(old, value)
        if old.size:
            for place in (0, -1):
                new = old.copy()
                new.reshape(-1)[place] = value
                yield new
    yield from (old[..., None], old.reshape(-1), old.astype("<i8"), old.astype("<f4"))
    if old.ndim:
        yield from (old[:0], old[:-1], old[::-1], np.concatenate([old, old]))
    if old.ndim == 2:
        yield from (old.T, old[:, :-1])


def arrays_of(header, body):
    """Return the arrays of a file."""
    found, start = [], 0
    for entry in header["arrays"]:
        dtype, size = np.dtype(entry["dtype"]), math.prod(entry["shape"])
        found.append(np.frombuffer(body, dtype, size, start).reshape(entry["shape"]))
        start += dtype.itemsize * size + -dtype.itemsize * size % 8
    return found


def assembled(header, arrays):
    """Return a file of a header and arrays."""
    table = [{"dtype": a.dtype.str, "shape": list(a.shape)} for a in arrays]
    return told({**header, "arrays": table}, b"".join(map(padded, arrays)))


def padded(array):
    data = np.ascontiguousarray(array).tobytes()
    return data + bytes(-len(data) % 8)


def places(tree):
    """Yield (container, key) for every place in a tree."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree)
    for key, value in list(items):
        yield tree, key
        if isinstance(value, (dict, list)):
            yield from places(value)


def wild(old, rng, spare):
    """Return a replacement for a value, often of the same kind."""
    if isinstance(old, (int, float)) and not isinstance(old, bool) and rng.random() < 0.8:
        return rng.choice([*WILD_NUMBERS, old + 1, old - 1, -old, old * 2])
    if isinstance(old, str) and rng.random() < 0.6:
        return rng.choice([*WILD_TEXTS, *(value for value in spare if isinstance(value, str))])
    return rng.choice([*WILD_TREES, *WILD_NUMBERS, *WILD_TEXTS, *spare[:50], *spare[:50]])


def retell(good, others, rng):
    """Change the header."""
    header, body = parts(good)
    other, _ = parts(rng.choice(others))
    spare = [holder[key] for holder, key in places(other["model"])]
    rng.shuffle(spare)
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        holder, key = rng.choice(list(places(header)))
        way = rng.random()
        if way < 0.1:
            del holder[key]
        elif way < 0.15 and isinstance(holder, dict):
            holder[rng.choice(WILD_TEXTS)] = rng.choice(WILD_NUMBERS)
        else:
            holder[key] = copy.deepcopy(wild(holder[key], rng, spare))
        if not header:
            break
    return told(header, body)


def reweigh(good, others, rng):
    """Change numbers in the arrays."""
    header, body = parts(good)
    data = bytearray(body)
    for _ in range(rng.choice([1, 1, 3, 20])):
        if len(data) >= 8:
            place = 8 * rng.randrange(len(data) // 8)
            value = rng.choice([*WILD_DOUBLES, rng.gauss(0.0, 1.0)])
            if rng.random() < 0.3:
                data[place : place + 8] = struct.pack("<q", rng.choice([-1, 0, 1, 623, 625, 2**62]))
            else:
                data[place : place + 8] = struct.pack("<d", value)
    return told(header, bytes(data))


def reshape(good, others, rng):
    """Change shapes and types of arrays, and the body to match if requested."""
    header, body = parts(good)
    if not header["arrays"]:
        return good
    entry = rng.choice(header["arrays"])
    if rng.random() < 0.2:
        entry["dtype"] = rng.choice(["<f4", "<i8", "|b1", "|O", "<U4", ">f8", "V8", None])
    elif rng.random() < 0.3:
        entry["shape"] = rng.choice([[], [0], [0, 2**40], [2**40, 0], [1] * 40, None, [1, 0, 0]])
    elif len(entry["shape"]) == 2 and rng.random() < 0.5:
        entry["shape"] = entry["shape"][::-1]
    elif entry["shape"]:
        axis = rng.randrange(len(entry["shape"]))
        entry["shape"][axis] = rng.choice([0, 1, entry["shape"][axis] + 1, 10**9, -1, 2**63])
    try:
        sizes = [
            int(np.prod(e["shape"], dtype=float)) * np.dtype(e["dtype"]).itemsize
            for e in header["arrays"]
        ]
    except (TypeError, ValueError, OverflowError):
        return told(header, body)
    total = sum(size + -size % 8 for size in sizes)
    if rng.random() < 0.7 and 0 <= total < 10**6:  # the body is as long as the header says
        body = (body + bytes(total))[:total]
    return told(header, body)


def splice(good, others, rng):
    """Combine the header of one model with the body of another, or parts of both."""
    header, body = parts(good)
    other, its_body = parts(rng.choice(others))
    if rng.random() < 0.5:
        return told({**header, "arrays": other["arrays"]}, its_body)
    return told({**other, "arrays": header["arrays"]}, body)


def memory():
    """Return the bytes of address space in use."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def bound(size):
    """Limit the memory of the process to what a file of this size may need."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (memory() + 64 * size + 2**24 + SLACK, hard))
