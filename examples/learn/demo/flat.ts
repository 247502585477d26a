/** Looks without a gain after which a curve is flat. */
const PATIENCE = 3;
/** What counts as a gain. */
const GAIN = 0.005;

/** Whether a curve has stopped to rise: none of its last looks is better than the best one before them. */
export function isFlat(looks: readonly number[]): boolean {
  const earlier = looks.slice(0, -PATIENCE);
  return earlier.length > 0 && Math.max(...looks.slice(-PATIENCE)) < Math.max(...earlier) + GAIN;
}
