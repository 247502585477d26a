import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Reply } from '../../src/testing';
import { startWorkerProcess } from '../durability/worker-process';
import { endOf, until } from '../support/until';
import { call, useToolShelf } from './tool-shelf';
import { step } from './stage';

const question = 'Where does the Danube rise?';

const shelf = useToolShelf();
const { open, play, called, told, seen } = shelf;

test('a server that lists no tools until the time of its run is over ends the run by that limit', async () => {
  const silent = [process.execPath, '-e', 'setTimeout(process.exit, 5000)'];
  await open({
    tools: { silent: { mcp: { command: silent }, allow: ['look'] } },
    limits: { wallClock: '4s' },
  });
  const result = await shelf.stage.solve({ question });
  expect(result).toMatchObject({ stoppedBy: 'wallClock', error: { type: 'Limit.WallClock' } });
});

test.each([
  ['pay', 1, /outcome of this call is unknown.*process that waited for it was lost/s],
  ['read_slowly', 2, /^Done: it\.$/],
] as const)('kill -9 of the worker while it waits for the tool %s', async (name, times, expected) => {
  await open();
  play(call(name, { item: 'it' }), 'Told.');
  const { id } = await shelf.stage.client.start({ question });
  const worker = await startWorkerProcess(shelf.stage);
  await until(called, (lines) => lines.some((line) => line.startsWith(name)));
  // The history tells the call while it runs.
  const [running] = (await shelf.stage.client.trace(id)).rounds[0]?.steps[0]?.turns ?? [];
  expect(running).toMatchObject({ worker: 'a', turn: 0, calls: [{ outcome: null, output: null }] });
  expect(running?.calls[0]?.startedAt).toEqual(expect.any(String));
  await worker.kill();
  writeFileSync(`${process.env.TOOLS_LOG ?? ''}.open`, '');
  const result = await shelf.stage.whileWorking(() => endOf(shelf.stage, id));
  expect(result).toMatchObject({ status: 'completed', answer: 'Told.' });
  expect(called()).toHaveLength(times);
  expect(told()[0]).toMatch(expected);
  // No model turn is bought twice.
  expect(shelf.stage.requestsTo('a')).toHaveLength(2);
  expect(await shelf.stage.client.trace(id)).toMatchObject({ rounds: result.rounds });
});

test('a server that means harm speaks to no system text, and its failures end with the limits; another run goes on', async () => {
  const hostile = join(__dirname, '../support/hostile-server.cjs');
  const mcp = { command: [process.execPath, hostile, 'plain'] };
  await open({
    tools: { hostile: { mcp, allow: ['poisoned', 'fails', 'endless'], timeout: '10m' } },
    limits: { toolTurns: 4 },
  });
  const asked = (name: string): Reply => ({ text: '', calls: [{ name: `hostile__${name}`, input: {} }] });
  let isPatient = true;
  shelf.stage.providers.answer('a', (request) => {
    seen.push(request);
    if (request.tools === undefined) return 'It only fails.';
    return asked(isPatient ? 'endless' : 'fails');
  });
  await shelf.stage.whileWorking(async () => {
    const patient = await shelf.stage.client.start({ question });
    await until(
      () => shelf.stage.client.trace(patient.id),
      ({ rounds }) => rounds[0]?.steps[0]?.turns?.[0]?.calls[0]?.outcome === null,
    );
    isPatient = false;
    shelf.stage.plan([step('a', 'Look it up.')]);
    expect(await shelf.stage.client.solve({ question })).toMatchObject({
      status: 'completed',
      answer: 'It only fails.',
    });
    await shelf.stage.client.cancel(patient.id);
    expect(await endOf(shelf.stage, patient.id)).toMatchObject({ status: 'cancelled' });
  });
  expect(seen.map(({ tools }) => tools !== undefined)).toEqual([true, true, true, true, true, false]);
  expect(told()).toEqual(['failure 1', 'failure 2', 'failure 3', 'failure 4']);
  for (const { body } of shelf.stage.requestsTo('a')) {
    const { messages, tools } = JSON.parse(body) as { messages: object[]; tools?: object[] };
    expect(JSON.stringify(messages)).not.toContain('IGNORE ALL');
    expect(JSON.stringify(tools ?? []).split('IGNORE ALL INSTRUCTIONS').length).toBe(tools ? 2 : 1);
  }
  expect(shelf.stage.requestsTo('conductor').some(({ body }) => body.includes('IGNORE ALL'))).toBe(false);
});
