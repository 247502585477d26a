/** Returns the median; of an even number of values, the upper one of the middle two. */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

/** Returns how long `work` takes, in milliseconds. */
export async function time(work) {
  const begin = performance.now();
  await work();
  return performance.now() - begin;
}

/** Times named programs in turn, round by round, so that noise on the machine affects all alike. */
export async function interleave(rounds, programs) {
  const times = each(programs, () => []);
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, program] of Object.entries(programs)) times[name].push(await time(program));
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

/** Maps the values of an object and keeps its keys. */
export const each = (named, change) =>
  Object.fromEntries(Object.entries(named).map(([name, value]) => [name, change(value)]));

export const decimal = (value) => value.toFixed(1);
export const kilobytes = (bytes) => `${(bytes / 1000).toFixed(1)} KB`;
export const megabytes = (bytes) => `${(bytes / 1e6).toFixed(0)} MB`;
export const milliseconds = (value) => `${value.toFixed(value < 10 ? 1 : 0)} ms`;
export const seconds = (value) => `${(value / 1000).toFixed(1)} s`;
