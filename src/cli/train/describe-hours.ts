const MINUTE_MS = 60_000;

/** `under a minute`, `14 min`, `3 h 5 min`: for times that nobody counts the seconds of. */
export function describeHours(milliseconds: number): string {
  const minutes = Math.round(milliseconds / MINUTE_MS);
  if (minutes < 1) return 'under a minute';
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
