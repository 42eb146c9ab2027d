"""The scikit-learn estimators, one file an algorithm, and beside them what they truly share."""
