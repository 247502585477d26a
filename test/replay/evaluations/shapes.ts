import type { EvaluateInput } from '../../../src/evaluation/definitions';
import { METHODS } from '../../../src/evaluation/methods/read-method';
import { CALL_NANO_USD } from '../../evaluation/open-evaluation';

/** One way an evaluation can go. */
export interface EvaluationShape {
  readonly questions: number;
  readonly methods: readonly string[];
  readonly changes?: Partial<EvaluateInput>;
  /** Records the history of its first question instead of its own. */
  readonly ofQuestion?: boolean;
  /** Number of events after which it continues in a new run; the last run's history is recorded. */
  readonly longHistory?: number;
}

export const EVALUATION_SHAPES: Readonly<Record<string, EvaluationShape>> = {
  whole: { questions: 3, methods: ['workers'], changes: { window: 2 } },
  'every-method': {
    questions: 1,
    methods: ['workers', 'conductor:1', ...Object.keys(METHODS).filter((name) => name !== 'worker')],
    ofQuestion: true,
  },
  'out-of-money': {
    questions: 2,
    methods: ['worker:coder', 'reflection:clerk'],
    changes: { window: 2, nanoUsd: 9 * CALL_NANO_USD },
  },
  'continued-as-new': {
    questions: 4,
    methods: ['worker:clerk'],
    changes: { window: 1 },
    longHistory: 12,
  },
};
