import { FAILURES } from '../../src/protocol/failures';
import type { SolveResult } from '../../src';
import { type Evidence, type Finding, finding } from './evidence';
import { isCancelled } from './scenario';

const DOCUMENTED: ReadonlySet<string> = new Set(Object.values(FAILURES));

/** Returns how a solve ended, in the words of the documentation. */
export function stateOf(run: SolveResult | null): string {
  if (run === null) return 'lost';
  if (run.status === 'failed') return `failed (${run.error?.type ?? 'without a type'})`;
  if (run.status !== 'completed') return run.status;
  if (run.stoppedBy !== null) return `stopped by ${run.stoppedBy}`;
  return run.degraded ? 'completed, degraded' : 'completed';
}

/** Checks that every solve ends in a documented state: none is lost, none is stuck. */
export function auditRuns({ runs }: Evidence): Finding[] {
  return [...runs].flatMap(([id, run]) =>
    complaintsAbout(id, run).map((difference) =>
      finding('every solve ends in a documented state', difference, id),
    ),
  );
}

function complaintsAbout(id: string, run: SolveResult | null): string[] {
  if (run === null) return ['it is lost: the server knows no such run'];
  if (run.status === 'running') return ['it is stuck: still running after its wall clock'];
  if (run.status === 'cancelled' && !isCancelled(id)) return ['it was cancelled, and no one asked for that'];
  const answer = run.answer ?? '';
  const isAnswered = answer.trim() !== '';
  const unanswered = run.status === 'completed' && !isAnswered ? ['it is completed without an answer'] : [];
  return [...unanswered, ...undocumentedIn(run)];
}

/** Describes the failures of the run, its steps and its calls whose type is not in `FAILURES`. */
function undocumentedIn({ status, error, rounds, calls }: SolveResult): string[] {
  const failed = status === 'failed' && error === null ? ['it failed without saying why'] : [];
  const problems = [
    error,
    ...rounds.flatMap(({ steps }) => steps.map((step) => step.error)),
    ...calls.map((call) => call.error),
  ];
  const unknown = problems.filter((problem) => problem !== null && !DOCUMENTED.has(problem.type));
  return [
    ...failed,
    ...unknown.map((problem) => `it holds a failure of no documented type: ${JSON.stringify(problem)}`),
  ];
}
