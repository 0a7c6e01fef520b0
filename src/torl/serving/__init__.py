"""Model servers: token ids in, sampled ids and log-probabilities out."""
