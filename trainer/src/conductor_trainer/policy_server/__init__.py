"""A policy server over transformers: small, deterministic, for tiny policies, mostly on CPUs."""
