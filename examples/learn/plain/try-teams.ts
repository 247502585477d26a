import type { RunWorker } from '../../../src/protocol/run';
import { drawWorkers, samplingSeed } from '../../../src/training/draw';
import { findOptimum, optimumFor, toReward } from '../world/optimum';
import { questionSet } from '../world/questions';
import { withWorkers } from '../world/world';
import type { Lesson, Sampled } from './lesson';
import { mean } from './mean';
import { sampleRound } from './sample-round';
import { chanceIn } from './scoring';

/** What a policy came to on one question with one team, exactly. */
export interface TeamScore {
  /** Ids of the workers. */
  readonly team: readonly string[];
  /** Mean over its plans. */
  readonly reward: number;
  /** Of the best plan of this team. */
  readonly best: number;
}

/** How a policy is tried. */
export interface Trial {
  readonly temperature: number;
  /** `swapped`: each worker bears the notes of another one of its team. */
  readonly notes: 'own' | 'swapped';
}

/** Plans of each question with each team. */
const SAMPLES = 4;

/** Tries a checkpoint with the teams that were held out, on held-out questions, in an order of its own each time. */
export async function tryTeams(lesson: Lesson, checkpoint: Sampled, trial: Trial): Promise<TeamScore[]> {
  const { recipe, seed, workers } = lesson;
  const questions = questionSet(recipe.world, 'heldOut', recipe.heldOut, seed);
  const scores: TeamScore[] = [];
  for (const [number, ids] of (recipe.pool.heldOut ?? []).entries()) {
    const world = withWorkers(recipe.world, ids);
    const optimum = findOptimum(world);
    for (const [index, { question, topic }] of questions.entries()) {
      const draw = number * questions.length + index;
      const present = workers.filter(({ id }) => ids.includes(id));
      const team = drawWorkers(present, { seed, cycle: 0, draw, pool: { ...recipe.pool, adaptive: false } });
      const samples = await sampleRound(
        lesson,
        checkpoint,
        { question, workers: trial.notes === 'own' ? team : withSwappedNotes(team), plans: SAMPLES },
        {
          seed: samplingSeed({ seed, purpose: 'evaluation', cycle: 0, draw, round: 0 }),
          temperature: trial.temperature,
        },
      );
      const inOrder = withWorkers(
        world,
        team.map(({ id }) => id),
      );
      const rewards = samples.map(({ text }) => {
        const chance = chanceIn(inOrder, question, text);
        return chance === null ? 0 : toReward(chance);
      });
      const best = toReward(optimumFor(world, optimum, topic).best.chance);
      scores.push({ team: ids, reward: mean(rewards), best });
    }
  }
  return scores;
}

function withSwappedNotes(team: readonly RunWorker[]): RunWorker[] {
  return team.map((worker, index) => ({ ...worker, notes: team[(index + 1) % team.length]?.notes ?? null }));
}
