"""Responses of a checkpoint to the questions of a benchmark, graded, one row each; and the statistics on such rows."""
