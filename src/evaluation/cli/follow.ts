import { setTimeout as pause } from 'node:timers/promises';
import { ServiceError, WorkflowNotFoundError } from '@temporalio/client';
import { breakdownOf } from '../../cli/follow-run';
import { unlessInterrupted } from '../../cli/interruption';
import { watchForMissingWorker } from '../../cli/queues';
import type { Session } from '../../cli/session';
import { columnsOf, harmless, openPicture, type Screen } from '../../cli/terminal';
import { describeUsd, joinFacts } from '../../trace/describe';
import { wrapFacts } from '../../trace/lines';
import type { EvaluationProgress } from '../contract';
import { PROGRESS_QUERY } from '../names';
import type { Manifest } from '../records';

const LOOK_MS = 1_000;

/** Shows an evaluation on stderr until it has ended; null after Ctrl-C. @throws Error for one that failed */
export async function followEvaluation(
  session: Session,
  manifest: Manifest,
  interruption: AbortSignal,
): Promise<EvaluationProgress | null> {
  const { temporal, worker } = session;
  const handle = temporal.workflow.getHandle(manifest.id);
  const stopLooking = watchForMissingWorker(session, manifest.id);
  const view = openView(process.stderr);
  const ended = new AbortController();
  const looking = look(async () => {
    const progress = await handle.query<EvaluationProgress>(PROGRESS_QUERY);
    view.show(describeProgress(manifest, progress, Date.now()));
  }, ended.signal);
  try {
    const end = Promise.race([handle.result() as Promise<EvaluationProgress>, breakdownOf(worker?.ended)]);
    return (await unlessInterrupted(interruption, end)) ?? null;
  } finally {
    ended.abort();
    await looking;
    stopLooking();
    view.close();
  }
}

/** A look that fails is left out: the next one may find more. */
async function look(work: () => Promise<void>, stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    await work().catch((error: unknown) => {
      if (!(error instanceof ServiceError) && !(error instanceof WorkflowNotFoundError)) return;
    });
    await pause(LOOK_MS, undefined, { signal: stop }).catch(() => undefined);
  }
}

/** `12 of 100 questions`, `$0.12`, `about 3 min left`, `conductor 0.83`, `worker:gpt 0.71` */
export function describeProgress(
  { questions, methods }: Pick<Manifest, 'questions' | 'methods'>,
  { done, spentNanoUsd, startedAt, scores }: EvaluationProgress,
  now: number,
): readonly string[] {
  const left = done === 0 ? null : ((now - startedAt) / done) * (questions - done);
  const shown = methods.flatMap((method, place) => {
    const { correct, graded } = scores[place] ?? { correct: 0, graded: 0 };
    return graded === 0 ? [] : [`${method} ${(correct / graded).toFixed(2)}`];
  });
  return [
    `${done} of ${questions} questions`,
    describeUsd(spentNanoUsd / 1e9),
    ...(left !== null && done < questions ? [`about ${describeTime(left)} left`] : []),
    ...shown,
  ];
}

function describeTime(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1000);
  if (seconds < 90) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 90 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

const PLAIN_COLUMNS = 80;

interface View {
  readonly show: (facts: readonly string[]) => void;
  readonly close: () => void;
}

function openView(screen: Screen): View {
  if (!screen.isTTY || process.env.TERM === 'dumb') return openPlainView(screen);
  const { show, done } = openPicture(screen);
  return {
    show: (facts) => {
      show(wrapFacts(facts, columnsOf(screen) ?? PLAIN_COLUMNS).join('\n'));
    },
    close: done,
  };
}

/** A line whenever more questions are done. */
function openPlainView(screen: Screen): View {
  let last = '';
  return {
    show: (facts) => {
      const [count = ''] = facts;
      if (count !== last) screen.write(`${harmless(joinFacts(...facts))}\n`);
      last = count;
    },
    close: () => undefined,
  };
}
