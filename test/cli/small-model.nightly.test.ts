import { defaultConfig } from '../../src/config/default-pool';
import { solveResultSchema } from '../../src/protocol/solve';
import { useFolder } from './stage';

const stage = useFolder();

test('without a key, the default pool has a plan for its small model, which answers', async () => {
  const { config } = await defaultConfig({}, () => Promise.resolve(null));
  await stage.folder.write('conductor.yaml', config);
  const { code, stdout } = await stage.run('solve', 'What is the capital of France?', '--json');
  const { answer, degraded, rounds, calls } = solveResultSchema.parse(JSON.parse(stdout));
  expect({ code, degraded, answer }).toEqual({
    code: 0,
    degraded: false,
    answer: expect.stringMatching(/^.{0,60}Paris.{0,60}$/) as string,
  });
  expect(rounds[0]?.plan?.steps).toMatchObject([
    { worker: 'smollm2', sees: [] },
    { worker: 'smollm2', sees: [0] },
  ]);
  expect(new Set(calls.map(({ purpose }) => purpose))).toEqual(new Set(['step']));
});
