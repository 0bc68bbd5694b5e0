"""Model files: arrays and plain values in one safetensors file, checked before they are used.

Nothing that a file names is imported or called: a file names classes of a fixed list, and what it
says of them is checked as a stranger's word. There is no pickle.
"""
