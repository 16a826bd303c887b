"""Privacy amplification by shuffling: every bound of the field, certified on both sides."""
