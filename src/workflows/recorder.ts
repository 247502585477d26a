import { setCurrentDetails } from '@temporalio/workflow';
import type { SolveTrace } from '../protocol/solve';
import { applyEvent } from '../trace/apply-event';
import { renderMarkdown } from '../trace/markdown';
import type { RunEvent } from '../trace/run-event';

/** Keeps the trace of a run, and shows it in Temporal's own UI as it grows. */
export class Recorder {
  /** @param show what is done with each new state; a run that is one of many in its workflow shows nothing */
  constructor(
    private current: SolveTrace,
    private readonly show: (trace: SolveTrace) => void = showInUi,
  ) {}

  get trace(): SolveTrace {
    return this.current;
  }

  record(event: RunEvent): void {
    this.current = applyEvent(this.current, event);
    this.show(this.current);
  }
}

function showInUi(trace: SolveTrace): void {
  setCurrentDetails(renderMarkdown(trace));
}
