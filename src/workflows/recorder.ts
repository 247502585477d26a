import { setCurrentDetails } from '@temporalio/workflow';
import type { SolveTrace } from '../protocol/solve';
import { applyEvent } from '../trace/apply-event';
import { renderMarkdown } from '../trace/markdown';
import type { RunEvent } from '../trace/run-event';

/** Keeps the trace of a run, and shows it in Temporal's own UI as it grows. */
export class Recorder {
  constructor(private current: SolveTrace) {}

  get trace(): SolveTrace {
    return this.current;
  }

  record(event: RunEvent): void {
    this.current = applyEvent(this.current, event);
    setCurrentDetails(renderMarkdown(this.current));
  }
}
