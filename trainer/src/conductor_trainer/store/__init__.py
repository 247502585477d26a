"""The store that workers write to, as far as the trainer needs it: it only reads."""
