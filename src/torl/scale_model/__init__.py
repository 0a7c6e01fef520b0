"""A base model in miniature for the demo scale: generated problems, tokenizer, pretraining corpus, pretraining.

It stands where Qwen2.5-Math stands before ToRL: it writes code in about 40 % of its responses, about 80 % of which
runs.

Differs from ToRL: the paper starts from a published base model; nothing here says anything about mathematics at scale.
"""
