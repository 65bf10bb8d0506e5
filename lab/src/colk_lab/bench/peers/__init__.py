"""The methods that the benchmark compares, with one adapter each.

A method whose library is not installed is left out, and the page names it.
"""

from colk_lab.bench.peers import kernels, trees
from colk_lab.bench.peers.base import BatchPeer, Peer, absence, missing, present, versions

__all__ = ["BATCH_PEERS", "BatchPeer", "Peer", "absence", "missing", "present", "versions"]

BATCH_PEERS: dict[str, BatchPeer] = present([*kernels.PEERS, *trees.PEERS])
