"""A step: one job in a process of its own, which may die without taking anything else along."""
