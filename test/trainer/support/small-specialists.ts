import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { startStepServer } from '../../../research/plain/lesson';
import {
  type Cycle,
  type Desk,
  learn,
  type Lesson,
  type Progress,
} from '../../../research/specialists/learn';
import { TINY, type Recipe } from '../../../research/specialists/recipe';
import { phrasesOf, type Skill } from '../../../research/specialists/skills';
import { runPython } from '../../../research/support/programs';
import { PERFECT } from '../../../research/test/specialists/perfect-crew';

const SKILLS: readonly Skill[] = ['reverse', 'sort', 'shift'];

/** Recipe with three single skills; the phrasing decides which of three workers can do one. */
export const SMALL: Recipe = {
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

interface Specialists {
  /** Returns what a Conductor needs that learns by a lesson. */
  readonly deskFor: (lesson: Lesson) => Desk;
  readonly close: () => Promise<void>;
}

/** Opens the processes in which Conductors learn by a recipe. */
export async function openSpecialists(recipe: Recipe): Promise<Specialists> {
  const folder = await mkdtemp(join(tmpdir(), 'specialists-'));
  const steps = await startStepServer(folder);
  const server = await runPython('policy_server', ['--port', '0']);
  const { url } = z.object({ url: z.string() }).parse(server.ready);
  const crew = { ...PERFECT, ids: ['w1', 'w2', 'w3'] };
  return {
    deskFor: (lesson) => {
      const trainRun = `small-${lesson}`;
      return { seed: 1, lesson, recipe, crew, steps, policyUrl: `${url}/v1`, trainRun, folder };
    },
    close: async () => {
      await Promise.all([steps.close(), server.stop()]);
    },
  };
}

/** Runs the remaining cycles of a Conductor's training. */
export async function learnFrom(desk: Desk, progress: Progress): Promise<Cycle[]> {
  const cycles: Cycle[] = [];
  for await (const cycle of learn(desk, progress)) cycles.push(cycle);
  return cycles;
}
