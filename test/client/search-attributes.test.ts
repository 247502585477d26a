import { randomUUID } from 'node:crypto';
import { Client } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time';
import { ConductorClient, renderPlan, SearchAttributeError } from '../../src';
import { addAttributes, compareAttributes } from '../../src/client';
import { CRITERIA, type RunCriteria, SEARCH_ATTRIBUTES } from '../../src/protocol/search-attributes';
import { step, useStage } from '../support/stage';
import { openGateway } from '../support/gateway';
import { endOf, until } from '../support/until';

const stage = useStage({ workers: ['a'], config: { recursion: 'worker', limits: { depth: 1 } } });

function clientWith(searchAttributes: ConstructorParameters<typeof ConductorClient>[0]['searchAttributes']) {
  const { temporal, store, taskQueue } = stage;
  return new ConductorClient({ client: temporal.client, store, taskQueue, searchAttributes });
}

/** Returns what a run was started with, by what it can be found by. */
async function attributesOf(id: string): Promise<Record<string, unknown>> {
  const { typedSearchAttributes } = await stage.temporal.client.workflow.getHandle(id).describe();
  const ours = Object.values<string>(SEARCH_ATTRIBUTES);
  const all = typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value] as const);
  return Object.fromEntries(all.filter(([name]) => ours.includes(name)));
}

async function endAll(ids: readonly string[]): Promise<void> {
  await Promise.all(ids.map((id) => stage.temporal.client.workflow.getHandle(id).terminate()));
}

beforeEach(() => addAttributes(stage.temporal.client, CRITERIA));

test('a solve is started with its tenant, its key’s name and its model, if the configuration wants them', async () => {
  const question = 'Whose am I?';
  const worker = {
    pool: { allow: ['a'] },
    given: { plan: { steps: [step('a', 'Say it.')] }, outputs: [null] },
  };
  const all = clientWith(true);
  const runs = [
    await all.start({ question, tenant: 'acme' }, undefined, { keyName: 'shop' }),
    await all.start({ question, conductor: { name: 'second' } }),
    await all.start({ question, conductor: { checkpoint: 'nightly/000040' } }),
    await all.start({ question, ...worker }),
    await clientWith(['ConductorTenant']).start({ question, tenant: 'acme' }, undefined, { keyName: 'shop' }),
    await stage.client.start({ question, tenant: 'acme' }, undefined, { keyName: 'shop' }),
  ];
  expect(await Promise.all(runs.map(({ id }) => attributesOf(id)))).toEqual([
    { ConductorTenant: 'acme', ConductorKey: 'shop', ConductorModel: 'conductor' },
    { ConductorModel: 'conductor/second' },
    { ConductorModel: 'conductor/nightly/000040' },
    { ConductorModel: 'worker/a' },
    { ConductorTenant: 'acme' },
    {},
  ]);
  await endAll(runs.map(({ id }) => id));
});

test('a gateway has its solves found by the name of their key, retries too', async () => {
  const gateway = await openGateway(stage, 0, stage.store, clientWith(true));
  const key = await gateway.key({ name: 'shop "1"' });
  stage.plan([step('a', 'Say it.')]);
  await stage.whileWorking(async () => {
    const ask = async (path: string, body: object): Promise<string> =>
      String((await gateway.ask('POST', path, body, { key })).body.id);
    const messages = [{ role: 'user', content: 'Whose is it?' }];
    const id = await ask('/api/solves', { model: 'conductor', messages });
    const named = { ConductorKey: 'shop %221%22', ConductorModel: 'conductor' };
    expect(await attributesOf(id)).toEqual(named);
    await endOf(stage, id);
    const again = await ask(`/api/solves/${id}/retry`, { from: 0 });
    expect(again).not.toBe(id);
    expect(await attributesOf(again)).toEqual(named);
    expect(JSON.stringify(await attributesOf(id))).not.toContain(key);
    await endAll([again]);
  });
  await gateway.close();
});

test('a retry is found by what its run was; the parts of a run are not', async () => {
  const client = clientWith(true);
  stage.providers.script('conductor', [
    renderPlan({ steps: [step('conductor', 'Weigh it.')] }, ['a', 'conductor']),
    renderPlan({ steps: [step('a', 'Compare.')] }, ['a']),
  ]);
  await stage.whileWorking(async () => {
    const { id } = await client.solve({ question: 'Whose child?', tenant: 'acme' });
    const again = await client.retry(id, { from: 0 });
    expect(await attributesOf(again.id)).toEqual({ ConductorTenant: 'acme', ConductorModel: 'conductor' });
    expect(await attributesOf(`${id}-r0s1`)).toEqual({});
    await endAll([again.id]);
  });
});

test('runs are listed by what they were started with, whatever a value holds', async () => {
  const client = clientWith(true);
  const tenants = [
    ...[`it's`, `"quoted"`, `back\\slash`, `\\`, `%22quoted%22`, `a\0\nb`],
    ...[`\\' OR 1 = 1 --`, `' OR ConductorTenant != '`, `") OR ("" = "`],
  ];
  const runs = await Promise.all(tenants.map((tenant) => client.start({ question: 'Who?', tenant })));
  const { taskQueue } = stage;
  const list = async (where: RunCriteria, known: readonly string[] = []): Promise<string[]> =>
    (await client.list({ taskQueue, where, known })).runs.map(({ id }) => id);
  await until(
    () => list({ model: 'conductor' }),
    ({ length }) => length === tenants.length,
  );
  for (const [index, tenant] of tenants.entries()) expect(await list({ tenant })).toEqual([runs[index]?.id]);
  expect(await list({ tenant: tenants[0], model: 'worker/a' })).toEqual([]);
  // A run that is known without the server's list must have the values too.
  const known = runs.map(({ id }) => id);
  expect(await list({ tenant: `it's` }, known)).toEqual([runs[0]?.id]);
  expect(await list({ key: 'nobody' }, known)).toEqual([]);
  await endAll(known);
});

test('a list by what runs are not started with is refused, since it would find none', async () => {
  const { client } = stage;
  await expect(client.list({ where: { tenant: 'acme' } })).rejects.toThrow(
    /cannot be found by their tenant.*temporal\.searchAttributes.*ConductorTenant/,
  );
  await expect(clientWith(['ConductorKey']).list({ where: { key: 'a', model: 'b' } })).rejects.toMatchObject({
    code: 'Configuration',
    message: expect.stringContaining('ConductorModel') as string,
  });
});

test('a namespace without the attributes refuses a start in words that say what to do, and nothing is started', async () => {
  const { temporal, store, taskQueue } = stage;
  const namespace = `bare-${randomUUID()}`;
  const { connection, workflowService } = temporal.client;
  const retention = msToTs('1 day');
  await workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod: retention });
  const client = new Client({ connection, namespace });
  const conductor = new ConductorClient({ client, store, taskQueue, searchAttributes: true });
  const start = () => conductor.start({ question: 'Who?', tenant: 'acme' }, 'bare');
  const refusal = await until(
    () => start().catch((error: unknown) => error),
    // The server takes a moment to know its new namespace everywhere.
    (error) => error instanceof SearchAttributeError,
  );
  // The server names one of them, whichever it meets first.
  const [, name = ''] = /does not take search attribute (Conductor\w+)/.exec(String(refusal)) ?? [];
  expect(['ConductorTenant', 'ConductorModel']).toContain(name);
  const create = `temporal operator search-attribute create --namespace ${namespace} --name ${name} --type Keyword`;
  expect(String(refusal)).toContain(create);
  expect(refusal).toMatchObject({ code: 'SearchAttribute' });
  await expect(client.workflow.getHandle('bare').describe()).rejects.toThrow();
  await expect(conductor.list({ where: { tenant: 'acme' } })).rejects.toThrow(SearchAttributeError);

  expect((await compareAttributes(client, CRITERIA)).missing).toEqual(CRITERIA);
  await addAttributes(client, CRITERIA);
  const { id } = await until(
    () => start().catch(() => null),
    (run) => run !== null,
  ).then((run) => run ?? { id: '' });
  expect(id).toBe('bare');
  await client.workflow.getHandle(id).terminate();
});

test('a value longer than the server keeps is cut, and found all the same', async () => {
  const client = clientWith(true);
  const checkpoint = `nightly/${'4'.repeat(400)}`;
  const model = `conductor/${checkpoint}`;
  const { id } = await client.start({ question: 'How long?', conductor: { checkpoint } });
  expect(await attributesOf(id)).toEqual({ ConductorModel: model.slice(0, 255) });
  const list = () => client.list({ taskQueue: stage.taskQueue, where: { model } });
  await until(list, ({ runs }) => runs.length === 1);
  await endAll([id]);
});
