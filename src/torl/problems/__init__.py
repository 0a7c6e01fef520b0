"""Problems: what one is, how each source is read, why a row is not verifiable, duplicates and overlap with benchmarks.

Knows nothing of models: the grader's parser and the tokenizer come in as functions.
"""
