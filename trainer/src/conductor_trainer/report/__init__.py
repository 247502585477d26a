"""Shows a training run in TensorBoard or Weights & Biases: one run, however many nights."""
