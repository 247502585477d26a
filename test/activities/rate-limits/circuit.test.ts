import { Circuit } from '../../../src/activities/rate-limits/limiter';

const PAUSE = 30_000;

/** Returns a circuit that opened at time 0. */
function openCircuit(): Circuit {
  const circuit = new Circuit({ failures: 2, pauseMs: PAUSE });
  circuit.failed(0, false);
  circuit.failed(0, false);
  return circuit;
}

/** Lets a probe through at `now`, which fails at once. */
function failProbe(circuit: Circuit, now: number): void {
  expect(circuit.waitAt(now)).toBe(0);
  expect(circuit.pass(now)).toBe(true);
  circuit.failed(now, true);
}

describe('a circuit', () => {
  test('opens after a number of failures in a row, and an answer resets the count', () => {
    const circuit = new Circuit({ failures: 2, pauseMs: PAUSE });
    circuit.failed(0, false);
    circuit.answered();
    circuit.failed(0, false);
    expect(circuit.waitAt(0)).toBe(0);
    circuit.failed(0, false);
    expect(circuit.waitAt(0)).toBe(PAUSE);
    expect(circuit.waitAt(10_000)).toBe(20_000);
  });

  test('lets one call probe after its pause, and all calls once the probe is answered', () => {
    const circuit = openCircuit();
    expect(circuit.waitAt(PAUSE)).toBe(0);
    expect(circuit.pass(PAUSE)).toBe(true);
    expect(circuit.waitAt(PAUSE)).toBe(PAUSE);
    circuit.answered();
    expect(circuit.waitAt(PAUSE)).toBe(0);
    expect(circuit.pass(PAUSE)).toBe(false);
  });

  test('stays open twice as long after each failed probe, up to 10 minutes', () => {
    const circuit = openCircuit();
    let now = PAUSE;
    const pauses = [];
    for (let probe = 0; probe < 6; probe += 1) {
      failProbe(circuit, now);
      pauses.push(circuit.waitAt(now) / 1000);
      now += circuit.waitAt(now);
    }
    expect(pauses).toEqual([60, 120, 240, 480, 600, 600]);
  });

  test('starts with the short pause again after it was closed', () => {
    const circuit = openCircuit();
    failProbe(circuit, PAUSE);
    circuit.answered();
    circuit.failed(100_000, false);
    circuit.failed(100_000, false);
    expect(circuit.waitAt(100_000)).toBe(PAUSE);
  });

  test('ignores the failure of a call that was sent before it opened', () => {
    const circuit = openCircuit();
    circuit.failed(1_000, false);
    expect(circuit.waitAt(1_000)).toBe(PAUSE - 1_000);
  });

  test('allows another probe if one was lost', () => {
    const circuit = openCircuit();
    circuit.pass(PAUSE);
    expect(circuit.waitAt(2 * PAUSE)).toBe(0);
    expect(circuit.pass(2 * PAUSE)).toBe(true);
  });
});
