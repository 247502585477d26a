/** Numbers as they stand beside curves: three digits say enough there. */
export function plain(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e6) return `${short(value / 1e6)} M`;
  if (size >= 1e4) return `${short(value / 1e3)} k`;
  return short(value);
}

/** A share between 0 and 1, in percent. */
export function percent(value: number): string {
  return `${short(value * 100)}%`;
}

export function dollars(value: number): string {
  return `$${short(value)}`;
}

/** A time that is given in milliseconds. */
export function duration(value: number): string {
  if (value < 1000) return `${short(value)} ms`;
  if (value < 120_000) return `${short(value / 1000)} s`;
  if (value < 7_200_000) return `${short(value / 60_000)} min`;
  return `${short(value / 3_600_000)} h`;
}

function short(value: number): string {
  if (value === 0) return '0';
  if (Math.abs(value) >= 100) return value.toFixed(0);
  if (Math.abs(value) < 1e-4) return value.toExponential(1);
  return String(Number(value.toPrecision(3)));
}
