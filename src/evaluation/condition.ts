import { UsageError } from '../errors';
import type { EvaluationManifest } from './results';
import { bestWorker, isAlone, type Summary } from './summarize';

/** Condition of `--fail-if`: a score is below another one, or below a number, by more than a margin. */
export interface Condition {
  readonly text: string;
  readonly method: string;
  /** A method, `worker:best`, or a score. */
  readonly bound: string | number;
  readonly margin: number;
}

const NUMBER = String.raw`(?:0|1|0?\.\d{1,9}|1\.0{1,9})`;
const FORM = new RegExp(String.raw`^(\S+)\s*<\s*(${NUMBER}|[^\s<]+)(?:\s+-\s+(${NUMBER}))?$`);

const BEST = 'worker:best';

/** Parses e.g. `conductor < worker:best - 0.05`. @throws UsageError, also for a method that is not tried */
export function readCondition(text: string, tried: Tried): Condition {
  const [, method = '', bound = '', margin = '0'] = FORM.exec(text.trim()) ?? [];
  if (method === '') {
    throw new UsageError(
      `--fail-if ${JSON.stringify(text)} is not understood: expected e.g. "conductor < worker:best", ` +
        '"conductor < worker:best - 0.05" or "conductor < 0.8"',
    );
  }
  const number = new RegExp(`^${NUMBER}$`).test(bound) ? Number(bound) : null;
  checkTried(number === null ? [method, bound] : [method], tried);
  return { text, method, bound: number ?? bound, margin: Number(margin) };
}

type Tried = Pick<EvaluationManifest, 'methods' | 'workers'>;

function checkTried(names: readonly string[], { methods, workers }: Tried): void {
  const isTried = (name: string): boolean =>
    name === BEST ? methods.some((each) => isAlone(each, workers)) : methods.includes(name);
  const untried = names.find((name) => !isTried(name));
  if (untried === undefined) return;
  throw new UsageError(
    `--fail-if names ${untried}, which is not tried: name one of ${methods.join(', ')}, or add it to --methods`,
  );
}

/** Evaluates a condition and states the figures; a score that could not be judged counts as a failure. */
export function checkCondition(
  { text, method, bound, margin }: Condition,
  { methods, workers }: Summary,
): { readonly holds: boolean; readonly sentence: string } {
  const own = scoreOf(method, { methods, workers });
  const other =
    typeof bound === 'number' ? { name: 'the number', score: bound } : scoreOf(bound, { methods, workers });
  if (own.score === null || other.score === null)
    return { holds: true, sentence: `Failed: "${text}" cannot be decided, since no answer could be judged.` };
  // The tolerance keeps a rounding error from failing a difference that equals the margin.
  const holds = other.score - own.score > margin + 1e-9;
  const less = margin === 0 ? '' : `, less ${margin}`;
  const figures = `${own.name} has ${own.score.toFixed(3)}, and ${other.name} ${other.score.toFixed(3)}${less}`;
  return { holds, sentence: `${holds ? 'Failed' : 'Passed'}: "${text}": ${figures}.` };
}

function scoreOf(
  name: string,
  { methods, workers }: Pick<Summary, 'methods' | 'workers'>,
): { name: string; score: number | null } {
  const found = name === BEST ? bestWorker(methods, workers) : methods.find(({ method }) => method === name);
  return { name: found?.method ?? name, score: found?.score ?? null };
}
