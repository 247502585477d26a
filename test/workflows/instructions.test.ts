import type { ConfigInput } from '../../src';
import { openStage, step, type Stage } from '../support/stage';

let stage: Stage;
afterEach(() => stage.close());

test("a worker's instructions are the system text of its requests, and of no other worker's", async () => {
  stage = await openStage({ workers: ['a', 'b'], configure: instruct });
  stage.plan([step('a', 'Find it.'), step('b', 'Check it.', [0])]);

  await stage.whileWorking(() => stage.client.solve({ question: 'What is it?' }));

  const systemOf = (worker: string): unknown =>
    stage.providers.log
      .filter(({ model }) => model === worker)
      .map(({ body }) => (JSON.parse(body) as { messages: { role: string; content: string }[] }).messages[0]);
  expect(systemOf('a')).toEqual([{ role: 'system', content: 'Answer in French.' }]);
  expect(systemOf('b')).toMatchObject([{ role: 'user' }]);
});

function instruct(config: ConfigInput): ConfigInput {
  const workers = config.workers.map((worker) =>
    worker.id === 'a' && worker.provider === 'openai'
      ? { ...worker, instructions: 'Answer in French.' }
      : worker,
  );
  return { ...config, workers };
}
