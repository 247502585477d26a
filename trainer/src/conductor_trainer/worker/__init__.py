"""The process that Temporal speaks to. Nothing in it loads torch, so it stays small and responsive.

It is a package so that multiprocessing does not run its command again in each step.
"""
