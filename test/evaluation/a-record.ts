import type { MethodRecord } from '../../src/evaluation/results';

export const SPENT = { calls: 1, inputTokens: 1, outputTokens: 1, nanoUsd: 1 };

/** Returns the record of a wrong answer of a method, apart from the changes. */
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
