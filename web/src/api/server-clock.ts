/** Difference up to which the two clocks count as one: a response tells whole seconds, and takes a while to arrive. */
const TOLERATED_MS = 3000;

let aheadMs = 0;

/** Learns from a response how far the gateway's clock is ahead of the browser's, which may be wrong by hours. */
export function noteServerTime({ headers }: Response): void {
  const ahead = Date.parse(headers.get('date') ?? '') - Date.now();
  if (Number.isNaN(ahead)) return;
  aheadMs = Math.abs(ahead) > TOLERATED_MS ? ahead : 0;
}

/** Returns the time now, by the clock that all times of solves are told by, in milliseconds since 1970. */
export function serverNow(): number {
  return Date.now() + aheadMs;
}
