/** How much is measured: about six minutes on two quiet cores. */
export const WHOLE = {
  /** 500 ms calls: how many solves at once, and how often. */
  slow: [
    { width: 1, rounds: 6 },
    { width: 10, rounds: 3 },
    { width: 50, rounds: 3 },
    { width: 200, rounds: 3 },
  ],
  /** 0 ms calls, one solve at a time. */
  fast: { rounds: 20 },
  /** 0 ms calls: in each round twice as many solves as go on at once. */
  throughput: [
    { width: 20, rounds: 2 },
    { width: 50, rounds: 2 },
  ],
  windows: 10,
  cancels: 4,
  starts: 3,
};

/** Shows that everything still works; but for what is exact, its figures say nothing. */
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
