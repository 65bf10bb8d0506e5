"""The scripts that measure the library: `python -m colk_lab.tables` lists them.

Most of them write a table of `docs/tables`. The others print what they find, and some try to break
the library. A script uses `publish` of `colk_lab.tables.output` to write its table.
"""
