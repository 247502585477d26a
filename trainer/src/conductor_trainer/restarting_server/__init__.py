"""Serves whole models by name with a server that can hold only one, as vLLM does."""
