import { join } from 'node:path';
import type { ConfigInput } from '../../src';
import { endedWith } from './command';
import { poolAt } from './folder';
import { PLAN, useStage } from './stage';

const stage = useStage({ boss: { answer: PLAN }, alpha: {} }, { configOf: withShop, server: 'shared' });
const { start, run } = stage;

/** Returns a pool whose worker may order things, if a person lets it. @param words what its server says of them */
function withShop(url: string, ...words: readonly string[]): ConfigInput {
  const { workers, ...rest } = poolAt(url);
  const server = join(__dirname, '../support/tools-server.cjs');
  return {
    ...rest,
    tools: {
      shop: { mcp: { command: [process.execPath, server, ...words] }, allow: ['order'], approve: ['order'] },
    },
    workers: workers.map((worker) => (worker.id === 'alpha' ? { ...worker, tools: ['shop'] } : worker)),
  };
}

const order = (item: string) => ({ name: 'shop__order', input: { item } });

test('a call that waits is shown with its arguments, and approved, changed or rejected by a command', async () => {
  stage.providers.script('alpha', [
    { text: '', calls: [order('a map'), order('a globe')] },
    'It is ordered.',
  ]);
  const solving = start(['solve', 'Order something.', '--trust']);
  const [, id = ''] = await solving.hear(
    /(solve-[\w-]+) waits for approval of the call shop__order \{"item":"a map"\}: temporal-conductor approve \1 --call 1\.alpha\.1\.1 /,
  );
  const [list, trace, unnamed] = await Promise.all([run('list'), run('trace', id), run('approve', id)]);
  expect(list.stdout).toContain('waits for approval');
  expect(trace.stdout).toContain('asks about the call shop__order {"item":"a globe"}');
  expect(unnamed).toMatchObject(
    endedWith(2, /2 calls of run .*1\.alpha\.1\.1 \(shop__order\), 1\.alpha\.1\.2 \(shop__order\)/),
  );

  const no = await run('approve', id, '--call', '1.alpha.1.1', '--reject', 'We have one.');
  expect(no).toMatchObject(endedWith(0, 'Rejected.'));
  await stage.folder.write('arguments.json', '{"thing": "a small globe"}');
  expect(await run('approve', id, '--edit', 'arguments.json')).toMatchObject(
    endedWith(1, 'the arguments do not fit the tool shop__order'),
  );
  await stage.folder.write('arguments.json', '{"item": "a small globe"}');
  expect(await run('approve', id, '--edit', 'arguments.json')).toMatchObject(
    endedWith(0, `Call 1.alpha.1.2 of run ${id} is made with the arguments of`),
  );
  expect(await solving.ended).toMatchObject({ code: 0, stdout: 'It is ordered.\n' });
  const [, told] = stage.providers.log.filter(({ model }) => model === 'alpha');
  expect(told?.body).toContain('We have one.');
  expect(told?.body).toContain('Ordered: a small globe.');
});

test('a tool that its server describes in another way is withheld until it is accepted', async () => {
  const offered = async (): Promise<boolean> => {
    const before = stage.callsOf('alpha');
    stage.providers.script('alpha', ['Well.']);
    expect(await run('solve', 'Order nothing.', '--trust')).toMatchObject({ code: 0 });
    const asked = stage.providers.log.filter(({ model }) => model === 'alpha').slice(before);
    return asked.every(({ body }) => body.includes('shop__order'));
  };
  const first = await run('tools', '--trust');
  expect(first.code).toBe(0);
  expect(first.stdout).toContain('not used yet');
  expect(await offered()).toBe(true);

  await stage.folder.write('conductor.yaml', {
    ...stage.pool(),
    ...withShop(stage.providers.url, 'another'),
  });
  expect(await offered()).toBe(false);
  const [seen, checked] = await Promise.all([run('tools'), run('doctor')]);
  expect(seen.code).toBe(1);
  for (const { stdout } of [seen, checked])
    expect(stdout).toContain('shop.order has changed since it was first used');
  expect(checked.stdout).toContain('may be called by alpha: "temporal-conductor pool check"');
  expect(await run('tools', '--accept', 'shop.nothing')).toMatchObject(
    endedWith(2, 'no change of shop.nothing'),
  );
  const accepted = await run('tools', '--accept', 'shop.order');
  expect(accepted).toMatchObject(endedWith(0, 'Accepted: shop.order.'));
  expect(await offered()).toBe(true);
});
