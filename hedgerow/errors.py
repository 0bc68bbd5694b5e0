"""The library's own exceptions: files that cannot be trusted, or do not fit."""


class ModelFileError(ValueError):
    """A model cannot be written to a file, or a file is no model: damaged, foreign or too new."""


class CheckpointError(ModelFileError):
    """A checkpoint cannot be gone on from: damaged, or of other data or parameters."""
