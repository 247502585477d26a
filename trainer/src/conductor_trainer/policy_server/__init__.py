"""A policy server for CPUs: what training and serving need of vLLM's OpenAI server.

On a GPU the same client speaks to vLLM itself. This one is small and deterministic, over
transformers, for tiny policies and tests.
"""
