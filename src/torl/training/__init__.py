"""GRPO through verl: reward, dataset, agent loop, the CPU platform, launching, resuming and exporting.

Nothing outside this package imports it.
"""
