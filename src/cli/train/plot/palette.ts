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
