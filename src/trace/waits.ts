import type { SolveTrace } from '../protocol/solve';
import { previewOf } from '../protocol/text';
import { howToApprove } from './describe';
import { waitingRuns } from './run-tree';
import { waitingCalls } from './waiting-calls';

/** What waits for a person in a run, or below it. */
export interface Wait {
  readonly run: string;
  /** `its plan`, `the call shelf__order {"item":"a map"}`: one line, which a model may have written. */
  readonly what: string;
  /** Command that decides. */
  readonly how: string;
}

export function waitsOf(trace: Pick<SolveTrace, 'id' | 'rounds' | 'waitsFor'>): Wait[] {
  if (trace.waitsFor !== 'approval') return [];
  return [
    ...waitingRuns(trace).map((run) => ({ run, what: 'its plan', how: howToApprove(run) })),
    ...waitingCalls(trace).map(({ run, id, name, arguments: args }) => ({
      run,
      what: `the call ${name} ${onOneLine(previewOf(args))}`,
      how: howToApprove(run, '--call', id),
    })),
  ];
}

function onOneLine(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json));
  } catch {
    return json.replace(/\s+/g, ' ');
  }
}
