"""Estimators → Programs: `to_program`, the one public door. Stands above the estimators."""
