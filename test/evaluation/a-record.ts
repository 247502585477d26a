import type { MethodRecord } from '../../src/evaluation/results';

export const SPENT = { calls: 1, inputTokens: 1, outputTokens: 1, nanoUsd: 1 };

/** A wrong answer of a method, but for changes. */
export function aRecord(method: string, index: number, changes: Partial<MethodRecord> = {}): MethodRecord {
  return {
    evaluation: 'e',
    method,
    question: `q${index}`,
    index,
    topic: null,
    verdict: 'wrong',
    extracted: null,
    reason: '',
    graderVersion: null,
    answer: 'x',
    runs: [],
    spent: SPENT,
    lost: 0,
    planning: SPENT,
    latencyMs: 1,
    workers: {},
    plan: null,
    rounds: 1,
    degraded: false,
    stoppedBy: null,
    ...changes,
  };
}
