"""What `src/encryption` of the TypeScript side writes, opened here, and the other way round.

The formats are told there; the golden vectors of `test/training/vectors.json` bind both sides.
"""
