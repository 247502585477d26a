/** A quantity over the cycles, in their order; null: there was none. */
export interface Curve {
  readonly name: string;
  readonly colour: string;
  readonly values: readonly (number | null)[];
}

/** One of the small pictures that a picture is made of. */
export interface Panel {
  readonly title: string;
  /** Says what is counted, and in which unit. */
  readonly note: string;
  /** `lines`: each by itself; `shares`: areas on top of each other that fill the panel. */
  readonly form: 'lines' | 'shares';
  readonly curves: readonly Curve[];
  /** Around the first curve: how far it spreads to either side. */
  readonly spread?: readonly number[];
  /** Measured now and then: points, drawn over the curves. */
  readonly points?: Curve;
  /** The largest value the axis shows; default: as the values want it. */
  readonly top?: number;
  /** A value for people, unit included. */
  readonly format: (value: number) => string;
}

/** A picture: what it shows of a training run. */
export interface Picture {
  /** Name of its files, without an ending. */
  readonly file: string;
  readonly title: string;
  readonly subtitle: string;
  /** The number of each cycle shown, ascending. */
  readonly cycles: readonly number[];
  /** Cycles that a night began with, the first one's left out. */
  readonly nightStarts: readonly number[];
  readonly panels: readonly Panel[];
}

/** The last value there is; null where there is none. */
export function lastOf({ values }: Pick<Curve, 'values'>): number | null {
  return values.findLast((value) => value !== null) ?? null;
}

/**
 * The colours of all pictures, in the order they are given out: the set of Okabe and Ito, told apart by people with any
 * kind of colour vision (https://jfly.uni-koeln.de/color/).
 */
const HUES = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#f0e442'] as const;

/** For what is only there because something must be. */
export const GREY = '#9a9a9a';

/** What is written and ruled. */
export const INK = {
  text: '#24292f',
  faint: '#6e7781',
  rule: '#d8dee4',
  paper: '#ffffff',
  // Whichever a reader has. Without quotes: resvg 2.6 finds none of the names that follow a quoted one.
  fonts: 'Segoe UI, Helvetica Neue, Arial, Liberation Sans, DejaVu Sans, sans-serif',
} as const;

/** Colours that mean the same in every picture. */
export const MEANING = { main: HUES[0], second: HUES[1], good: HUES[2], bad: HUES[1], idle: GREY } as const;

/** The colour of a curve by its place among the others of its panel. */
export function hueOf(index: number): string {
  return HUES[index % HUES.length] ?? GREY;
}

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
