"""The learners: one thin class each over the core."""
