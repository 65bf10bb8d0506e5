# Made from the .py file by tools/declarations.py.

cdef class Term:
    pass
