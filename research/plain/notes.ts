import type { Plan } from '../../src/plan/plan';
import type { RunWorker } from '../../src/protocol/cards';
import { type QuestionRow, questionSet } from '../world/questions';
import { answerIn } from '../world/simulate';
import { diceFor, type World } from '../world/world';
import { carryOut } from './group';
import type { Recipe } from './recipe';
import { mean } from './scoring';

/** Returns the workers of a recipe's world as a night has them. */
export function workersFor({ world, describe, train }: Recipe, seed: number): RunWorker[] {
  const notes =
    describe === 'notes' ? measureNotes(world, questionSet(world, 'train', train, seed), seed) : null;
  return world.workers.map(({ id }) => ({
    kind: 'activity',
    id,
    type: id,
    taskQueue: 'world',
    timeoutMs: 1000,
    notes: notes?.get(id) ?? null,
    fallback: [],
  }));
}

/** Minimum lead over the mean accuracy of all workers that counts as a strength. */
const STRENGTH = 0.1;

/**
 * Returns notes on each worker by its id: what it does better than the others, best first, each with its percentage
 * of right answers to training questions. Solving is counted and named by topic.
 *
 * Each worker is asked every question three times: to solve it alone, and to check and to refine a random worker's
 * answer. The tables that define the world are not used.
 */
export function measureNotes(
  world: World,
  questions: readonly QuestionRow[],
  seed: number,
): ReadonlyMap<string, string> {
  const skills = skillsOf(world, questions);
  const rates = world.workers.map(({ id }) => skills.map((skill) => rateOf(world, id, skill, seed)));
  const means = skills.map((_, skill) => mean(rates.map((of) => of[skill] ?? 0)));
  return new Map(
    world.workers.map(({ id }, worker) => {
      const ranked = skills
        .map(({ name }, skill) => {
          const rate = rates[worker]?.[skill] ?? 0;
          return { told: `${name} ${Math.round(100 * rate)}`, lead: rate - (means[skill] ?? 0) };
        })
        .toSorted((one, other) => other.lead - one.lead);
      const strengths = ranked.filter(({ lead }, rank) => rank === 0 || lead >= STRENGTH);
      return [id, strengths.map(({ told }) => told).join(', ')];
    }),
  );
}

/** A skill, and the questions that workers are tested on. */
interface Skill {
  readonly name: string;
  readonly kind: 'solve' | 'verify' | 'refine';
  readonly questions: readonly QuestionRow[];
}

function skillsOf(world: World, questions: readonly QuestionRow[]): Skill[] {
  return [
    ...world.topics.map(({ name }) => ({
      name,
      kind: 'solve' as const,
      questions: questions.filter(({ topic }) => topic === name),
    })),
    { name: 'verify', kind: 'verify', questions },
    { name: 'refine', kind: 'refine', questions },
  ];
}

function rateOf(world: World, worker: string, { kind, questions }: Skill, seed: number): number {
  const right = questions.map(({ id, question, answer }) => {
    const name = `notes/${kind}/${id}`;
    const { answer: reply } = carryOut(planOf(world, worker, kind, name), { world, seed, question, name });
    return answerIn(reply) === Number(answer) ? 1 : 0;
  });
  return mean(right);
}

function planOf({ workers, phrases }: World, worker: string, kind: Skill['kind'], name: string): Plan {
  if (kind === 'solve') return { steps: [{ worker, subtask: phrases.solve, sees: [] }] };
  const other = diceFor(name).pick(workers);
  return {
    steps: [
      { worker: other.id, subtask: phrases.solve, sees: [] },
      { worker, subtask: phrases[kind], sees: [0] },
    ],
  };
}
