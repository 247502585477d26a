import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { startStepServer } from '../../examples/learn/plain/lesson';
import { mean } from '../../examples/learn/plain/scoring';
import { type Desk, learn, type Lesson, warmUp } from '../../examples/learn/specialists/learn';
import { RECIPE, type Recipe } from '../../examples/learn/specialists/recipe';
import { phrasesOf, type Skill } from '../../examples/learn/specialists/skills';
import { runPython } from '../../examples/learn/support/programs';
import { PERFECT } from '../learn/specialists/perfect-crew';

const SKILLS: readonly Skill[] = ['reverse', 'sort', 'shift'];

/** Three single skills, for each of which two of three workers can be asked, each in words of its own. */
const SMALL: Recipe = {
  ...RECIPE,
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
  imitation: { ...RECIPE.imitation, cycles: 12, batch: 56 },
  rewards: { cycles: 2, learningRate: 3e-4, iterations: 2 },
};

/** Share of plans that were right in each cycle. */
async function sharesOf(desk: Desk): Promise<number[]> {
  const checkpoint = await warmUp(desk);
  const shares: number[] = [];
  for await (const { played } of learn(desk, { done: 0, checkpoint, writer: checkpoint, own: [] })) {
    shares.push(mean(played.map(({ verdict }) => (verdict === 'correct' ? 1 : 0))));
  }
  return shares;
}

test('a Conductor learns whom to ask for what, in which words; from shuffled verdicts it does not', async () => {
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
    const learned = await sharesOf(deskFor('verdicts'));
    const shuffled = await sharesOf(deskFor('shuffled'));
    expect(learned.at(-1)).toBeGreaterThan(0.25);
    expect(shuffled.at(-1)).toBeLessThan(0.15);
  } finally {
    await Promise.all([steps.close(), server.stop()]);
  }
}, 600_000);
