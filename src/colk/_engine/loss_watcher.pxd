# Made from the .py file by tools/declarations.py.

cdef class LossWatcher:
    cdef public bint has_alarm
    cdef int take(self, double loss, double[:, ::1] points, Py_ssize_t row) except -1 nogil
