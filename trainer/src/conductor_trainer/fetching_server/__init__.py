"""Serves adapters of the artifacts by a vLLM that stands behind, on the same machine.

Everything is passed on. What is to be loaded is fetched from the artifacts first, and vLLM is told
the folder in which it lies then.
"""
