"""Arithmetic on arrays for training. Knows no scikit-learn and no Program.

    arrays       whose arrays are these: NumPy's, torch's, ...
    threshold    the k entries of largest magnitude
    distances    squared distances between rows
    metrics      precision@k and F1 of several labels a row
    probability  scores as probabilities
    random       random numbers, one seam for each backend
    threads      one thread while a model is fitted

May import NumPy, SciPy, array-api-compat, threadpoolctl and the errors.
"""
