cimport cython
from colk._engine.loss_watcher cimport LossWatcher
from colk._engine.simd cimport maths as math
from colk.learners.feature_drift cimport FeatureMeans

cdef Py_ssize_t BLOCK, FEWEST, MOST, CAPACITY, REFERENCE, LAST, KEPT
cdef double[::1] SCORES
cdef Py_ssize_t[::1] WINDOWS

@cython.final
cdef class DriftDetector(LossWatcher):
    cdef readonly double threshold
    cdef public list events
    cdef public bint drift_detected
    cdef readonly Py_ssize_t n_seen
    cdef Py_ssize_t _since, _n_recent, _due, _filled, _size
    cdef bint _is_ranked
    cdef double[::1] _recent, _ordered, _scores, _losses
    cdef double _score, _square, _cube, _loss, _squares, _cubes
    cdef FeatureMeans _features
    cdef int _begin(self) except -1
    cdef int _clear_blocks(self) except -1 nogil
    cdef void _clear_block(self) noexcept nogil
    cdef int _renew(self) except -1
    cdef int _take(self, double loss) except -1 nogil
    @cython.locals(low=Py_ssize_t, left=Py_ssize_t, half=Py_ssize_t, high=Py_ssize_t,
                   above=Py_ssize_t, middle=Py_ssize_t)
    cdef Py_ssize_t _rank(self, double loss) noexcept nogil
    @cython.locals(score=double)
    cdef int _add(self, double loss) except -1 nogil
    @cython.locals(window=Py_ssize_t, before=Py_ssize_t)
    cdef int _compare(self) except -1 nogil
    @cython.locals(half=Py_ssize_t, kept=Py_ssize_t)
    cdef void _trim(self) noexcept nogil
    cdef int _alarm(self, Py_ssize_t window) except -1
