import type { SolveResult } from '../../src';
import { at, sampleCall, sampleRound, sampleStep, sampleTrace } from './sample-trace';

const CHILD = 'solve-1-r0s2';
const REVIEW = 'solve-1-review';

/**
 * A run with every kind of self-call: its second step was given to the Conductor, whose child asked two workers; a
 * review wrote a better plan of one step, and a second review accepted that plan's answer.
 */
export function sampleFamily(changes: Partial<SolveResult> = {}): SolveResult {
  const done = (index: number, output: string) => sampleStep(index, { output, endedAt: at(4) });
  return sampleTrace({
    status: 'completed',
    degraded: false,
    answer: 'Paris, of course.',
    rounds: [
      sampleRound(
        [done(0, 'Paris.'), { ...done(1, 'Yes.'), worker: 'conductor', model: null, childId: CHILD }],
        {
          answer: 'Yes.',
          decision: 'revised',
        },
      ),
      sampleRound([done(0, 'Certainly.'), { ...done(1, 'Yes.'), wave: 1 }], {
        depth: 1,
        childId: CHILD,
        answer: 'Yes.',
        decision: 'accepted',
      }),
      sampleRound([done(0, 'Paris, of course.')], {
        round: 1,
        depth: 1,
        childId: REVIEW,
        answer: 'Paris, of course.',
        decision: 'accepted',
      }),
      sampleRound([], { round: 2, depth: 2, childId: `${REVIEW}-review`, decision: 'accepted' }),
    ],
    calls: [
      conductorCall({ purpose: 'plan' }),
      sampleCall({ step: 0 }),
      conductorCall({ purpose: 'plan', childId: CHILD }),
      sampleCall({ step: 0, childId: CHILD }),
      sampleCall({ step: 1, childId: CHILD }),
      conductorCall({ purpose: 'review', round: 1, childId: REVIEW }),
      sampleCall({ round: 1, step: 0, childId: REVIEW }),
      conductorCall({ purpose: 'review', round: 2, childId: `${REVIEW}-review` }),
    ],
    usage: { inputTokens: 80, outputTokens: 40, calls: 8 },
    costUsd: 0.008,
    costIsLowerBound: false,
    estimate: { calls: 12, tokens: 40_000, nanoUsd: 120_000_000 },
    ...changes,
  });
}

/** Sample run while that child is running. */
export function sampleFamilyAtWork(): SolveResult {
  const family = sampleFamily({ status: 'running', answer: null });
  const [own, child] = family.rounds;
  if (own === undefined || child === undefined) throw new Error('the sample has lost its rounds');
  const running = { output: null, endedAt: null };
  const rounds = [
    { ...own, steps: own.steps.map((step) => (step.index === 1 ? { ...step, ...running } : step)) },
    { ...child, steps: child.steps.map((step) => (step.index === 1 ? { ...step, ...running } : step)) },
  ];
  return { ...family, rounds };
}

function conductorCall(changes: Parameters<typeof sampleCall>[0]): ReturnType<typeof sampleCall> {
  return sampleCall({ step: null, worker: 'conductor', model: 'boss', ...changes });
}

/** Sample run while its plan waits for a person. */
export function sampleWaiting(): SolveResult {
  const [own] = sampleFamily().rounds;
  if (own === undefined) throw new Error('the sample has lost its round');
  const waiting = { startedAt: null, endedAt: null, output: null, childId: null };
  const steps = own.steps.map((step) => ({ ...step, ...waiting }));
  const rounds = [{ ...own, steps, answer: null, decision: null }];
  const [plan] = sampleFamily().calls;
  const calls = plan === undefined ? [] : [plan];
  return sampleFamily({ status: 'running', answer: null, waitsFor: 'approval', rounds, calls });
}
