"""Pictures in scikit-learn's manner: `from_estimator` computes, `plot` draws."""
