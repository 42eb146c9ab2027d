"""Arithmetic on arrays for training: thresholding, distances, random numbers. Knows no scikit-learn and no Program."""
