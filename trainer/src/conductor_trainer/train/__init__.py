"""Makes checkpoints: the jobs that train, alone or in several processes together."""
