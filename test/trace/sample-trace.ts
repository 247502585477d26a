import type { Call, SolveResult } from '../../src';

type Round = SolveResult['rounds'][number];
type Step = Round['steps'][number];

/** A run of three steps in two waves: one done, one replaced by a fallback that failed, one still waiting. */
export function sampleTrace(changes: Partial<SolveResult> = {}): SolveResult {
  return {
    id: 'solve-1',
    runId: 'run-1',
    status: 'running',
    question: 'What is\nthe capital of France?',
    answer: null,
    degraded: true,
    stoppedBy: null,
    error: null,
    checkpoint: null,
    rounds: [
      {
        round: 0,
        depth: 0,
        childId: null,
        plan: {
          steps: [
            { worker: 'gpt', subtask: 'Find the capital', sees: [] },
            { worker: 'sonnet', subtask: 'Check it', sees: [] },
            { worker: 'gpt', subtask: 'Combine', sees: [0, 1] },
          ],
        },
        steps: [
          sampleStep(0, { output: 'Paris.', endedAt: at(4) }),
          sampleStep(1, {
            worker: 'haiku',
            fallbackFor: 'sonnet',
            error: REFUSAL,
            output: '',
            endedAt: at(3),
          }),
          sampleStep(2, { wave: 1, startedAt: null, model: null }),
        ],
        answer: null,
        decision: null,
      },
    ],
    calls: [
      sampleCall({ purpose: 'plan', step: null, worker: 'conductor', model: 'boss' }),
      sampleCall({ step: 0, nanoUsd: 1_500_000 }),
      sampleCall({ step: 1, attempt: 1, error: OVERLOADED, usage: null, nanoUsd: 0 }),
      sampleCall({ step: 1, attempt: 2, error: OVERLOADED, usage: null, nanoUsd: 0 }),
      sampleCall({ step: 1, attempt: 3, error: REFUSAL, usage: null, nanoUsd: null }),
    ],
    usage: { inputTokens: 20, outputTokens: 10, calls: 5 },
    costUsd: 0.0025,
    costIsLowerBound: true,
    ...changes,
  };
}

/** Changes one step of the run. */
export function withStep(trace: SolveResult, index: number, changes: Partial<Step>): SolveResult {
  const rounds = trace.rounds.map((round) => ({
    ...round,
    steps: round.steps.map((step) => (step.index === index ? { ...step, ...changes } : step)),
  }));
  return { ...trace, rounds };
}

/** Returns the time that many seconds after the sample's start. */
export function at(seconds: number): string {
  return new Date(Date.UTC(2026, 0, 1) + seconds * 1000).toISOString();
}

const OVERLOADED = { type: 'Provider.Unavailable', message: 'worker haiku answered 529.' };
const REFUSAL = { type: 'Provider.Refused', message: 'worker haiku declined.' };

/** A round of these steps, each with its own task, with changes. */
export function sampleRound(steps: Step[], changes: Partial<Round> = {}): Round {
  const plan = {
    steps: steps.map(({ worker, index }) => ({ worker, subtask: `Task ${index + 1}`, sees: [] })),
  };
  return { round: 0, depth: 0, childId: null, plan, steps, answer: null, decision: null, ...changes };
}

/** A step under way, with changes. */
export function sampleStep(index: number, changes: Partial<Step>): Step {
  const step = { index, wave: 0, worker: 'gpt', model: 'gpt-6', output: null, error: null, childId: null };
  return { ...step, fallbackFor: null, dropped: [], startedAt: at(1), endedAt: null, ...changes };
}

type Turn = NonNullable<Step['turns']>[number];

/** A call of a tool that was answered, with changes. */
export function sampleToolCall(changes: Partial<Turn['calls'][number]> = {}): Turn['calls'][number] {
  return {
    name: 'shelf__look_up',
    arguments: '{"word":"The Danube"}',
    output: 'The Danube rises at Donaueschingen.',
    outcome: 'ok',
    startedAt: at(1),
    endedAt: at(1.041),
    ...changes,
  };
}

/** Turns of a worker, each with these calls. */
export function sampleTurns(worker: string, ...turns: Turn['calls'][]): Turn[] {
  return turns.map((calls, turn) => ({ worker, turn, calls }));
}

/** A call that was answered, with changes. */
export function sampleCall(changes: Partial<Call>): Call {
  return {
    callId: 'call',
    purpose: 'step',
    round: 0,
    step: 0,
    attempt: 1,
    worker: 'gpt',
    model: 'gpt-6',
    error: null,
    usage: { inputTokens: 10, outputTokens: 5, cachedInputTokens: 0, reasoningTokens: 0 },
    nanoUsd: 1_000_000,
    ...changes,
  };
}
