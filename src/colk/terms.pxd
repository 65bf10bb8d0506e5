cdef class Term:
    pass
