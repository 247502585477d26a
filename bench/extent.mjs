/** Full run: about six minutes on two idle cores. */
export const WHOLE = {
  /** 500 ms calls: concurrent solves, and repetitions. */
  slow: [
    { width: 1, rounds: 6 },
    { width: 10, rounds: 3 },
    { width: 50, rounds: 3 },
    { width: 200, rounds: 3 },
  ],
  /** 0 ms calls, one solve at a time. */
  fast: { rounds: 20 },
  /** 0 ms calls: each round runs twice `width` solves, `width` at a time. */
  throughput: [
    { width: 20, rounds: 2 },
    { width: 50, rounds: 2 },
  ],
  windows: 10,
  cancels: 4,
  starts: 3,
};

/** Only checks that everything works; apart from exact counts, its figures mean nothing. */
export const QUICK = {
  slow: [
    { width: 1, rounds: 1 },
    { width: 10, rounds: 1 },
  ],
  fast: { rounds: 2 },
  throughput: [{ width: 5, rounds: 1 }],
  windows: 2,
  cancels: 1,
  starts: 1,
};
