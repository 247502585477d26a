import type { Problem } from '../protocol/call';
import { FAILURES } from '../protocol/failures';
import type { SolveTrace, StepTrace } from '../protocol/solve';
import { changeStep, endWait, withCalls } from './change-trace';
import type { EventOf } from './run-event';

/** What can happen to a step. */
export type StepEvent = EventOf<'step-kept' | 'step-started' | 'step-answered' | 'step-failed'>;

/** The trace after something happened to one of its steps. */
export function applyStepEvent(trace: SolveTrace, event: StepEvent): SolveTrace {
  switch (event.kind) {
    case 'step-kept':
      return changeStep(trace, event, (step) => ({ ...step, output: event.output }));
    case 'step-started':
      return applyStart(trace, event);
    case 'step-answered':
      return applyAnswer(trace, event);
    case 'step-failed':
      return applyFailure(trace, event);
  }
}

function applyStart(trace: SolveTrace, event: EventOf<'step-started'>): SolveTrace {
  const { worker, model, fallbackFor, childId = null, at } = event;
  const started = changeStep(trace, event, (step) => {
    const fresh = { ...step, worker, model, fallbackFor, childId, error: null, output: null, endedAt: null };
    return { ...fresh, startedAt: step.startedAt ?? at };
  });
  const running = endWait(started);
  return fallbackFor === null ? running : { ...running, degraded: true };
}

function applyAnswer(trace: SolveTrace, event: EventOf<'step-answered'>): SolveTrace {
  const { output, startedAt, endedAt, dropped } = event;
  const done = { output, startedAt, endedAt, dropped: [...dropped], error: null };
  return withCalls(
    changeStep(trace, event, (step) => ({ ...step, ...done })),
    event.calls,
  );
}

function applyFailure(trace: SolveTrace, event: EventOf<'step-failed'>): SolveTrace {
  const { output, problem, endedAt, dropped } = event;
  const done = { output, endedAt, dropped: [...dropped], error: problem };
  return withCalls(
    changeStep(trace, event, (step) => ({ ...step, ...done, ...passedOver(step, problem) })),
    event.calls,
  );
}

/** No call tells of a worker that was not asked: the step does, also when another one has answered. */
function passedOver({ worker, passedOver: before = [] }: StepTrace, error: Problem): Partial<StepTrace> {
  return error.type === FAILURES.circuitOpen ? { passedOver: [...before, { worker, error }] } : {};
}
