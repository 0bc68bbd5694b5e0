"""Many learners: the loops of the notes."""
