/** Ascending numbers as people write them: `0, 2–5, 9`. */
export function describePlaces(places: readonly number[]): string {
  const spans: [number, number][] = [];
  for (const place of places) {
    const last = spans.at(-1);
    if (last?.[1] === place - 1) last[1] = place;
    else spans.push([place, place]);
  }
  return spans.map(([first, last]) => (first === last ? String(first) : `${first}–${last}`)).join(', ');
}
