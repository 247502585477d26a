"""The Temporal worker process. It never loads torch, so that it stays small and responsive.

It is a package so that multiprocessing does not run its command again in each step.
"""
