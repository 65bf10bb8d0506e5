"""Take model files apart and reassemble them with the right checksum."""

import json
import struct

import numpy as np
from cases import X, Y

import colk
from colk import COLK
from colk.kernels import Gaussian
from colk.persistence.container import seal
from colk.risks import Variance


def parts(model, folder):
    """The header of a model's file, and its arrays."""
    colk.save(model, folder / "good")
    data = (folder / "good").read_bytes()
    (length,) = struct.unpack_from("<Q", data, 8)
    header = json.loads(data[24 : 24 + length])
    arrays, start = [], 24 + length
    for entry in header["arrays"]:
        size = np.dtype(entry["dtype"]).itemsize * int(np.prod(entry["shape"]))
        array = np.frombuffer(data[start : start + size], entry["dtype"])
        arrays.append(array.reshape(entry["shape"]).copy())
        start += size + -size % 8
    return header, arrays


def write(header, arrays, folder):
    """A file with these contents and the right checksum."""
    header["arrays"] = [{"dtype": a.dtype.str, "shape": list(a.shape)} for a in arrays]
    text = json.dumps(header).encode()
    text += b" " * (-(24 + len(text)) % 8)
    body = b"".join(a.tobytes() + bytes(-a.nbytes % 8) for a in arrays)
    (folder / "bad").write_bytes(seal(text, body))
    return folder / "bad"


def learner():
    return COLK(Gaussian(0.3), risk=Variance(0.1)).learn(X[:21], Y[:21])


def state(header):
    """Names and numbers of the arrays of a learner's state."""
    found = {}
    for section, tree in dict(header["model"]["state"]["items"]).items():
        if isinstance(tree, dict) and tree.get("is") == "dict":
            for name, item in tree["items"]:
                found[section, name] = item["array"]
    return found


def set_tally(header, name, value):
    for item in header["model"]["state"]["items"]:
        if item[0] == name:
            item[1] = value


def attributes(header, step=0):
    """Names and trees of the attributes of a step."""
    steps = dict(header["model"]["attributes"]["items"])["steps"]
    return steps[step]["items"][1]["attributes"]["items"]
