"""What the rows show: code behaviour, curves, claims and their verdicts, figures, and the report."""
