"""Small, deterministic policy server on Transformers, for tiny policies, mostly on CPUs."""
