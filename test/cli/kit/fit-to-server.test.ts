import { fitToServer } from '../../../src/cli/kit/session';
import type { Config } from '../../../src/config/schema';
import { parseTrainable } from '../../../src/training/config';

const config = parseTrainable({
  conductor: { provider: 'local', model: 'smollm2' },
  workers: [{ id: 'a', provider: 'local', model: 'smollm2' }],
});
const having = (changes: Partial<Config['temporal']>): Config['temporal'] =>
  fitToServer({ embedded: true }, { ...config, temporal: { ...config.temporal, ...changes } }, 'a.yaml')
    .temporal;

test('a configuration is unchanged if the server is not ours', () => {
  expect(fitToServer({ embedded: false }, config, 'other.yaml')).toBe(config);
});

test.each([
  [undefined, 'conductor'],
  ['conductor.yaml', 'conductor'],
  ['./conductor.yaml', 'conductor'],
  ['a.yaml', 'conductor@a.yaml'],
  ['./a.yaml', 'conductor@a.yaml'],
  ['pools/b.yaml', 'conductor@pools/b.yaml'],
])('beside the embedded server, %s has the queue %s', (file, taskQueue) => {
  expect(fitToServer({ embedded: true }, config, file).temporal.taskQueue).toBe(taskQueue);
});

test('a named queue is kept, and a lost worker is noticed within seconds', () => {
  expect(having({ taskQueue: 'mine' })).toMatchObject({ taskQueue: 'mine', heartbeat: '5s' });
  expect(having({ heartbeat: '2s' }).heartbeat).toBe('2s');
});
