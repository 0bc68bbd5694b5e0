"""Getting models out: ONNX files, and sources in C and Python that need no library.

`reading` turns any fitted estimator into an `Outline`; each writer knows outlines only.
"""
