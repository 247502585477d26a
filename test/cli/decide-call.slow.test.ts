import { join } from 'node:path';
import type { ConfigInput } from '../../src';
import { endedWith } from './command';
import { poolAt } from './folder';
import { PLAN, useStage } from './stage';

const stage = useStage({ boss: { answer: PLAN }, alpha: {} }, { configOf: withShop, server: 'shared' });
const { start, run } = stage;

/** Returns a pool whose worker may order things, if a person lets it. */
function withShop(url: string): ConfigInput {
  const { workers, ...rest } = poolAt(url);
  const server = join(__dirname, '../support/tools-server.cjs');
  return {
    ...rest,
    tools: { shop: { mcp: { command: [process.execPath, server] }, allow: ['order'], approve: ['order'] } },
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
