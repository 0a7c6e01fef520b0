"""Prompts, the tool protocol and the tool loop: one trajectory at a time, `generate` and `execute` passed in.

Knows nothing of verl, vLLM or HTTP, and is used unchanged in training and in evaluation.
"""
