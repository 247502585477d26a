"""Serves whole models by name with a server that can hold only one, such as vLLM."""
