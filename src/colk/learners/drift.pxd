# Made from the .py file by tools/declarations.py.
cimport cython
from colk._engine.loss_watcher cimport LossWatcher
from colk._engine.simd cimport maths as math
from colk.learners.feature_drift cimport FeatureMeans

cdef Py_ssize_t BLOCK, FEWEST, MOST
cdef Py_ssize_t[::1] WINDOWS
cdef Py_ssize_t CAPACITY
cdef Py_ssize_t REFERENCE, LAST, KEPT
cdef double[::1] SCORES

@cython.final
cdef class DriftDetector(LossWatcher):
    cdef public list events
    cdef Py_ssize_t _since
    cdef double[::1] _recent
    cdef double[::1] _ordered
    cdef Py_ssize_t _due
    cdef FeatureMeans _features
    cdef double _score
    cdef double _square
    cdef double _cube
    cdef double _loss
    cdef Py_ssize_t _filled
    cdef double[::1] _scores
    cdef double[::1] _losses
    cdef double _squares
    cdef double _cubes
    cdef readonly double threshold
    cdef public bint drift_detected
    cdef readonly Py_ssize_t n_seen
    cdef Py_ssize_t _n_recent
    cdef Py_ssize_t _size
    cdef bint _is_ranked
    cdef int _begin(self) except -1
    cdef int _clear_blocks(self) except -1 nogil
    cdef void _clear_block(self) noexcept nogil
    @cython.locals(k="Py_ssize_t")
    cdef int _renew(self) except -1
    cdef int _take(self, double loss) except -1 nogil
    @cython.locals(above="Py_ssize_t", half="Py_ssize_t", high="Py_ssize_t", left="Py_ssize_t", low="Py_ssize_t", middle="Py_ssize_t")
    cdef Py_ssize_t _rank(self, double loss) noexcept nogil
    @cython.locals(score="double")
    cdef int _add(self, double loss) except -1 nogil
    @cython.locals(before="Py_ssize_t", k="Py_ssize_t", window="Py_ssize_t")
    cdef int _compare(self) except -1 nogil
    @cython.locals(half="Py_ssize_t", k="Py_ssize_t", kept="Py_ssize_t")
    cdef void _trim(self) noexcept nogil
    cdef int _alarm(self, Py_ssize_t window) except -1
