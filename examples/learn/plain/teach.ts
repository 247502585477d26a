import type { Checkpoint } from '../../../src/training/trainer-contract';
import { type Cycle, learn } from './learn';
import type { Lesson } from './lesson';
import { mean } from './mean';
import { seconds } from './timed';
import { warmUp } from './warm-up';

/** What a policy was measured to be before and after it learned. */
export interface Taught<Measured> {
  readonly before: Measured;
  readonly after: Measured;
}

/** Parts of a run that are told of as one line. */
const PARTS = 10;

/** Warms a policy up and has it learn, and tells how it goes. */
export async function teach<Measured>(
  lesson: Lesson,
  tell: (line: string) => void,
  measure: (checkpoint: Checkpoint) => Promise<Measured>,
): Promise<Taught<Measured>> {
  let checkpoint = await warmUp(lesson);
  const before = await measure(checkpoint);
  const part: Cycle[] = [];
  const length = Math.ceil(lesson.recipe.learning.cycles / PARTS);
  for await (const cycle of learn(lesson, checkpoint)) {
    checkpoint = cycle.checkpoint;
    part.push(cycle);
    if (cycle.cycle % length === 0) tell(summary(part.splice(0)));
  }
  return { before, after: await measure(checkpoint) };
}

function summary(cycles: readonly Cycle[]): string {
  const rounds = [0, 1].map((round) => cycles.flatMap((cycle) => cycle.rounds[round] ?? []));
  const played = rounds.flat();
  const rewards = rounds
    .filter(({ length }) => length > 0)
    .map((round) => mean(round.flatMap(({ reward }) => reward ?? [])).toFixed(3));
  const last = cycles.at(-1);
  return [
    `cycle ${last?.cycle}`,
    `reward ${rewards.join(', reviews ')}`,
    `plans ${mean(played.map(({ plan }) => (plan === null ? 0 : 1))).toFixed(3)}`,
    `steps ${mean(played.map(({ plan }) => plan?.steps.length ?? 0)).toFixed(2)}`,
    `draws ${mean(cycles.map(({ draws }) => draws)).toFixed(1)}`,
    `entropy ${last?.metrics?.entropy.toFixed(3)}`,
    `clip ${last?.metrics?.clipShare.toFixed(3)}`,
    `rollouts ${seconds(mean(cycles.map(({ times }) => times.rollouts)))}`,
    `update ${seconds(mean(cycles.map(({ times }) => times.update)))}`,
  ].join('  ');
}
