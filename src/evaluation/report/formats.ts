// Numbers for people: three digits are enough.

const DIGITS = { maximumSignificantDigits: 3 } as const;
const compact = new Intl.NumberFormat('en', { ...DIGITS, notation: 'compact' });
const share = new Intl.NumberFormat('en', { ...DIGITS, style: 'percent' });

export function plain(value: number): string {
  return compact.format(value);
}

export function percent(value: number): string {
  return share.format(value);
}

export function dollars(value: number): string {
  return `$${plain(value)}`;
}

/** @param value milliseconds */
export function duration(value: number): string {
  if (value < 1000) return `${plain(value)} ms`;
  if (value < 120_000) return `${plain(value / 1000)} s`;
  if (value < 7_200_000) return `${plain(value / 60_000)} min`;
  return `${plain(value / 3_600_000)} h`;
}
