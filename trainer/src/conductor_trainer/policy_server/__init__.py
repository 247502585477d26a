"""A policy server for CPUs, over transformers: small, deterministic, for tiny policies."""
