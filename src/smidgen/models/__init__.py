"""The scikit-learn estimators, one file an algorithm, and beside them what they truly share.

    base             the bases of classifiers and regressors: what their Program answers is what they predict
    plumbing         rows, targets and weights as scikit-learn gives them, checked
    rows             what training learns from: held out in part, merged where repeated, dense in batches
    budget           "2kB" → bytes, and the largest count that keeps them
    scaling          which Input steps may suit raw rows, and the choice among them
    clusters         weighted k-means of one class, without its degenerate cases
    sklearn_private  scikit-learn's private names, all in one file
    prototypes       PrototypeClassifier, the pattern for the algorithms to come

May import core, program and scikit-learn; an algorithm's file imports no other algorithm.
"""
