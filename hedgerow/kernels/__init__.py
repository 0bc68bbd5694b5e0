"""Compiled loops: all that is done once for each row, bin or node.

A `kernel` is called by Python, a `part` by kernels only. What varies between trees (moments,
criteria) is a NamedTuple with methods. Sums are integers, and a thread writes only what it
owns, so that results depend neither on the order of rows nor on the number of threads. With
NUMBA_DISABLE_JIT=1 the same text runs as plain Python.
"""
