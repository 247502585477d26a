import { once } from 'node:events';
import { createServer } from 'node:net';
import { freePorts } from '../../src/local/embedded-server';

test('ports are distinct, the wished one where it is free, another where it is taken', async () => {
  const [free = 0, other] = await freePorts([null, null]);
  expect(other).not.toBe(free);
  expect(await freePorts([free])).toEqual([free]);

  const taken = createServer().listen(free, '127.0.0.1');
  await once(taken, 'listening');
  try {
    const [instead] = await freePorts([free]);
    expect(instead).toBeGreaterThan(0);
    expect(instead).not.toBe(free);
  } finally {
    taken.close();
  }
});
