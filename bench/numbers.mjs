/** The middle of some numbers; `share` 0.95 gives the 95th percentile. */
export function quantile(values, share = 0.5) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
}

/** How long something takes, in milliseconds. */
export async function time(work) {
  const begin = performance.now();
  await work();
  return performance.now() - begin;
}

/** Measures several programs in turn, round by round, so that a noisy machine disturbs all alike. */
export async function interleave(rounds, programs) {
  const times = programs.map(() => []);
  for (const program of programs) await program(); // The first run of each pays for what is loaded once.
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, program] of programs.entries()) times[index].push(await time(program));
  }
  return times;
}

/** Runs `count` pieces of work, at most `width` at a time. */
export async function many(count, width, work) {
  let next = 0;
  const lane = async () => {
    for (let index = next++; index < count; index = next++) await work(index);
  };
  await Promise.all(Array.from({ length: width }, lane));
}

/** A figure beside its targets, as a row of the table; `atLeast` where more is better. */
export function rate(what, value, { good, excellent, show = String, atLeast = false }) {
  const meets = (target) => (atLeast ? value >= target : value <= target);
  const verdict = meets(excellent) ? 'excellent' : meets(good) ? 'good' : 'missed';
  const sign = atLeast ? '≥' : '≤';
  return [what, show(value), `${sign} ${show(good)}`, `${sign} ${show(excellent)}`, verdict];
}

/** A figure without a target. */
export const note = (what, shown) => [what, shown, '', '', ''];

export const ratio = (value) => value.toFixed(2);
export const milliseconds = (value) => `${value.toFixed(value < 10 ? 1 : 0)} ms`;
export const seconds = (value) => `${(value / 1000).toFixed(1)} s`;
