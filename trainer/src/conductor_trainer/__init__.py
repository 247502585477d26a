"""Trains the Conductor: a Temporal worker around GRPO, and the policy server it publishes to."""
