"""The narrow waist: a Program is a short list of typed steps with one integer meaning. NumPy only."""
