"""Claims of other works, among them those that the five papers build on."""
