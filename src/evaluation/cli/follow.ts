import { setTimeout as pause } from 'node:timers/promises';
import type { WorkflowHandle } from '@temporalio/client';
import type { Session } from '../../cli/session';
import { follow } from '../../cli/view/follow';
import { openView } from '../../cli/view/open-view';
import { describeUsd, joinFacts } from '../../trace/describe';
import { wrapFacts } from '../../trace/lines';
import { type EvaluationProgress, PROGRESS_QUERY } from '../contract';
import type { Manifest } from '../results';

/** Shows an evaluation on stderr until it has ended; null after Ctrl-C. @throws Error for one that failed */
export async function followEvaluation(
  session: Session,
  manifest: Manifest,
  interruption: AbortSignal,
): Promise<EvaluationProgress | null> {
  const view = openView<EvaluationProgress>(process.stderr, {
    draw: (progress, { now, columns }) => wrapFacts(describeProgress(manifest, progress, now), columns),
    tell: (before, after) =>
      before?.done === after.done ? [] : [joinFacts(...describeProgress(manifest, after, Date.now()))],
  });
  const states = progressOf(session.temporal.workflow.getHandle(manifest.id));
  try {
    return (await follow(session, manifest.id, interruption, { states, show: view.show })) ?? null;
  } finally {
    view.close();
  }
}

const LOOK_MS = 1_000;

/** Looks at an evaluation again and again, and at last at its result. */
async function* progressOf(handle: WorkflowHandle): AsyncGenerator<EvaluationProgress> {
  const result = handle.result() as Promise<EvaluationProgress>;
  const end = result.then((progress) => ({ progress, isOver: true }));
  for (;;) {
    // A look that fails is left out: the end tells more.
    const look = handle.query<EvaluationProgress>(PROGRESS_QUERY).then(
      (progress) => ({ progress, isOver: false }),
      () => null,
    );
    const seen = await Promise.race([end, look]);
    if (seen !== null) yield seen.progress;
    if (seen?.isOver === true) return;
    await Promise.race([end, pause(LOOK_MS, undefined, { ref: false })]);
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
