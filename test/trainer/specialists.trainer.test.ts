import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { startStepServer } from '../../research/plain/lesson';
import { mean } from '../../research/plain/scoring';
import {
  type Cycle,
  type Desk,
  learn,
  type Lesson,
  type Progress,
  warmUp,
} from '../../research/specialists/learn';
import { TINY, type Recipe } from '../../research/specialists/recipe';
import { phrasesOf, type Skill } from '../../research/specialists/skills';
import { runPython } from '../../research/support/programs';
import { PERFECT } from '../../research/test/specialists/perfect-crew';

const SKILLS: readonly Skill[] = ['reverse', 'sort', 'shift'];

/** Recipe with three single skills; the phrasing decides which of three workers can do one. */
const SMALL: Recipe = {
  ...TINY,
  sets: [[1, SKILLS.map((skill) => [skill])]],
  phrases: SKILLS.flatMap((skill) => {
    const [plain, fancy] = ['plain', 'fancy'].map((words) =>
      phrasesOf(skill).find(({ phrasing }) => phrasing === words),
    );
    return [plain, fancy].filter((phrase) => phrase !== undefined);
  }),
  warmStart: { examples: 4000, steps: 300, batch: 32, learningRate: 3e-3, warmupSteps: 20 },
  questions: 12,
  groupSize: 24,
  imitation: { ...TINY.imitation, cycles: 6, batch: 56 },
  rewards: { cycles: 12, learningRate: 1e-3, iterations: 2, minibatches: 1 },
};

async function learnFrom(desk: Desk, progress: Progress): Promise<Cycle[]> {
  const cycles: Cycle[] = [];
  for await (const cycle of learn(desk, progress)) cycles.push(cycle);
  return cycles;
}

async function learnAll(desk: Desk): Promise<Cycle[]> {
  const checkpoint = await warmUp(desk);
  return learnFrom(desk, { done: 0, checkpoint, writer: checkpoint, own: [] });
}

/** Returns the share of right plans in the last three cycles. */
function shareRight(cycles: readonly Cycle[]): number {
  const played = cycles.slice(-3).flatMap((cycle) => cycle.played);
  return mean(played.map(({ verdict }) => (verdict === 'correct' ? 1 : 0)));
}

test('a Conductor learns which worker to ask for what and in which words; from shuffled verdicts it does not', async () => {
  const root = await mkdtemp(join(tmpdir(), 'specialists-'));
  const steps = await startStepServer(root);
  const server = await runPython('policy_server', ['--port', '0']);
  const { url } = z.object({ url: z.string() }).parse(server.ready);
  const crew = { ...PERFECT, ids: ['w1', 'w2', 'w3'] };
  const deskFor = (lesson: Lesson): Desk => {
    const trainRun = `small-${lesson}`;
    return { seed: 1, lesson, recipe: SMALL, crew, steps, policyUrl: `${url}/v1`, trainRun, folder: root };
  };
  try {
    const learned = await learnAll(deskFor('verdicts'));
    const shuffled = await learnAll(deskFor('shuffled'));
    expect(shareRight(learned)).toBeGreaterThan(0.65);
    expect(shareRight(shuffled)).toBeLessThan(0.45);

    // Resuming before the last cycle, as after a kill, gives the same weights.
    const [before, last] = learned.slice(-2);
    if (before === undefined) throw new Error('nothing was learned');
    const [again] = await learnFrom(deskFor('verdicts'), before);
    expect(again?.checkpoint.weightsSha256).toBe(last?.checkpoint.weightsSha256);
  } finally {
    await Promise.all([steps.close(), server.stop()]);
  }
}, 1_200_000);
