import { Cleanup } from '../../src/cli/session';

test('what was opened last is closed first, and nothing is closed twice', async () => {
  const closed: string[] = [];
  const cleanup = new Cleanup();
  for (const name of ['server', 'connection', 'worker']) {
    cleanup.add(() => {
      closed.push(name);
      return Promise.resolve();
    });
  }
  await cleanup.run();
  await cleanup.run();
  expect(closed).toEqual(['worker', 'connection', 'server']);
});

test('a step that fails does not keep the others from their turn', async () => {
  const closed: string[] = [];
  const cleanup = new Cleanup();
  cleanup.add(() => {
    closed.push('server');
    return Promise.resolve();
  });
  cleanup.add(() => Promise.reject(new Error('the worker did not listen')));
  await expect(cleanup.run()).rejects.toThrow('the worker did not listen');
  expect(closed).toEqual(['server']);
});
