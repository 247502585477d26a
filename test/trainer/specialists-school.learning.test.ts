import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { openCrew } from '../../research/specialists/crew';
import { type Recipe, TINY } from '../../research/specialists/recipe';
import { modelOf, teachWorkers } from '../../research/specialists/school';
import { runPython } from '../../research/support/programs';

/** Recipe with a worker and another that starts from its model; both learn nothing in so few steps. */
const BRIEF: Recipe = {
  ...TINY,
  school: {
    ...TINY.school,
    batch: 4,
    workers: [
      { id: 'w0', taught: [['sort', 'plain']], steps: 2 },
      { id: 'w1', taught: [['sort', 'fancy']], steps: 2, parent: 'w0' },
    ],
  },
};

test("workers are taught only once, by the product's own commands, and can then be served", async () => {
  const root = await mkdtemp(join(tmpdir(), 'school-'));
  const told: string[] = [];
  await teachWorkers(root, BRIEF, (line) => told.push(line));
  await teachWorkers(root, BRIEF, (line) => told.push(line));
  expect(told).toEqual([/^w0 learned/, /^w1 learned/].map((line) => expect.stringMatching(line) as string));

  const { workers } = BRIEF.school;
  const models = workers.flatMap((worker) => ['--model', `${worker.id}=${modelOf(root, worker)}`]);
  const server = await runPython('policy_server', ['--port', '0', ...models]);
  try {
    const { url } = z.object({ url: z.string() }).parse(server.ready);
    const crew = openCrew(`${url}/v1`, workers);
    const task = { question: 'First sort b a.', subtask: 'Now sort it.', sees: [] };
    await Promise.all(crew.ids.map((id) => crew.ask(id, task)));
    expect(crew.sent()).toBe(2);
  } finally {
    await server.stop();
  }
}, 600_000);
