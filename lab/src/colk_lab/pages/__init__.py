"""Templates of the reports, with formulas."""
