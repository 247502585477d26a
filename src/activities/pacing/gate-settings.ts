import type { ModelConfig } from '../../pool/config-schema';
import { durationMs } from '../../pool/duration';
import type { CircuitSettings } from './circuit';
import type { GateSettings } from './gate';

/** As many failures in a row as one call may come to: a fault that only one question meets opens nothing by chance. */
const FAILURES_IN_A_ROW = 5;
/** Restarts and failovers are over by then; who waits loses little. */
const PAUSE = '30s';

/** What the configuration of a card asks of the calls of its model. */
export function gateSettingsOf({
  rate = {},
  concurrency = Infinity,
  circuit = {},
}: ModelConfig): GateSettings {
  const { requestsPerMinute = Infinity, tokensPerMinute = Infinity } = rate;
  return { requestsPerMinute, tokensPerMinute, concurrency, circuit: circuitSettingsOf(circuit) };
}

function circuitSettingsOf(circuit: NonNullable<ModelConfig['circuit']>): CircuitSettings | null {
  if (circuit === false) return null;
  const { failures = FAILURES_IN_A_ROW, pause = PAUSE } = circuit;
  return { failures, pauseMs: durationMs(pause) };
}

/** Where several cards are of one model, the strictest of them holds in each respect. */
export function strictest(a: GateSettings, b: GateSettings): GateSettings {
  return {
    requestsPerMinute: Math.min(a.requestsPerMinute, b.requestsPerMinute),
    tokensPerMinute: Math.min(a.tokensPerMinute, b.tokensPerMinute),
    concurrency: Math.min(a.concurrency, b.concurrency),
    circuit: strictestCircuit(a.circuit, b.circuit),
  };
}

function strictestCircuit(a: CircuitSettings | null, b: CircuitSettings | null): CircuitSettings | null {
  if (a === null || b === null) return a ?? b;
  return { failures: Math.min(a.failures, b.failures), pauseMs: Math.max(a.pauseMs, b.pauseMs) };
}
