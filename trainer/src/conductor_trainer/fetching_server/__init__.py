"""Serves adapters of the store by a vLLM that stands behind, on the same machine.

Everything is passed on. What is to be loaded is fetched from the store first, and vLLM is told the
folder in which it lies then.
"""
