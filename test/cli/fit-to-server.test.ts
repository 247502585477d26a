import { fitToServer } from '../../src/cli/session';
import { parseTrainable } from '../../src/training/config/load';

const config = parseTrainable({
  conductor: { provider: 'local', model: 'smollm2' },
  workers: [{ id: 'a', provider: 'local', model: 'smollm2' }],
});

describe('a configuration on a server', () => {
  test('stays as it is where the server is not ours', () => {
    expect(fitToServer({ embedded: false }, config, 'other.yaml')).toBe(config);
  });

  test('keeps the queue of the folder for the file of the folder', () => {
    for (const named of [undefined, 'conductor.yaml', './conductor.yaml']) {
      expect(fitToServer({ embedded: true }, config, named).temporal.taskQueue).toBe('conductor');
    }
  });

  test('gets a queue of its own for another file, which it names', () => {
    const queues = ['a.yaml', './a.yaml', 'pools/b.yaml'].map(
      (named) => fitToServer({ embedded: true }, config, named).temporal.taskQueue,
    );
    expect(queues).toEqual(['conductor@a.yaml', 'conductor@a.yaml', 'conductor@pools/b.yaml']);
  });

  test('keeps a queue that it names', () => {
    const named = { ...config, temporal: { ...config.temporal, taskQueue: 'mine' } };
    expect(fitToServer({ embedded: true }, named, 'a.yaml').temporal.taskQueue).toBe('mine');
  });

  test('notices a lost worker within seconds beside the embedded server', () => {
    expect(fitToServer({ embedded: true }, config).temporal.heartbeat).toBe('5s');
    const quick = { ...config, temporal: { ...config.temporal, heartbeat: '2s' as const } };
    expect(fitToServer({ embedded: true }, quick).temporal.heartbeat).toBe('2s');
  });
});
