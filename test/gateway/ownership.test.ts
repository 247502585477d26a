import type { SolveResult } from '../../src';
import { useGateway } from '../support/gateway';
import { step, useStage } from '../support/stage';
import { until, untilTrace } from '../support/until';

const stage = useStage({ workers: ['a'] });

const gateway = useGateway(stage);

interface Operation {
  readonly requestBody?: { readonly content: { readonly 'application/json': unknown } };
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/** Bodies that the owner could send, so that only the id can be the reason for a refusal. */
const BODIES: Readonly<Record<string, object>> = {
  hint: { hint: 'Look again.' },
  depth: { depth: 0 },
  limits: { calls: 3 },
  approve: {},
  edit: { plan: { steps: [step('a', 'Something else.')] } },
  reject: { reason: 'It is not mine.' },
  'decide-call': { call: '1.a.1.1', approve: true },
  cancel: {},
  retry: { from: 0 },
};

interface Route {
  readonly method: string;
  readonly path: string;
}

async function routes(): Promise<Route[]> {
  const response = await fetch(`${gateway.url}/openapi.json`);
  const { paths } = (await response.json()) as Document;
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path })),
  );
}

function send({ method, path }: Route, key: string): Promise<Response> {
  const body = method === 'GET' ? undefined : JSON.stringify(BODIES[path.split('/').at(-1) ?? ''] ?? {});
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  return fetch(gateway.url + path, { method, headers, ...(body !== undefined && { body }) });
}

/** Starts a solve whose plan waits for approval, and returns its id. */
async function startOf(key: string, question: string): Promise<string> {
  stage.plan([step('a', 'Look.')]);
  const ask = () => gateway.ask('POST', '/api/solves', { question, approval: 'plan' }, { key });
  // A worker that has just started may not poll yet.
  const { body } = await until(ask, ({ status }) => status !== 503);
  const id = String(body.id);
  await untilTrace(stage, id, ({ waitsFor }) => waitsFor === 'approval');
  return id;
}

test('a key cannot see, list, steer, cancel or guess the solves of another', async () => {
  const [owner, other] = [await gateway.key(), await gateway.key()];
  await stage.whileWorking(async () => {
    const id = await startOf(owner, 'What is my secret plan?');
    const own = await startOf(other, 'What is mine?');
    const listed = (): Promise<{ readonly workflowId: string }[]> => allRuns();
    await until(listed, (runs) => runs.length === 2);
    const before = await stage.client.trace(id);
    const all = await routes();
    const withId = all.filter(({ path }) => path.includes('{id}'));
    expect(withId.length).toBeGreaterThan(9);

    for (const { method, path } of withId) {
      // An id that exists, a child that it might have, an id that does not exist, and invalid ids.
      const answers = [
        id,
        `${id}-r0s1`,
        `${id.slice(0, -1)}z`,
        'gw-',
        '..%2f',
        `${own.slice(0, 13)}/../${id}`,
      ].map(async (given) => {
        const response = await send({ method, path: path.replace('{id}', encodeURIComponent(given)) }, other);
        return { given, status: response.status, text: (await response.text()).replaceAll(given, 'ID') };
      });
      const [foreign, ...others] = await Promise.all(answers);
      expect({ method, path, status: foreign?.status }).toEqual({ method, path, status: 404 });
      for (const each of others) expect({ path, ...each }).toMatchObject({ path, status: 404 });
      // The reply is the same for a solve that exists and for one that does not.
      expect(others[1]?.text).toBe(foreign?.text);
    }
    for (const route of all.filter(({ method, path }) => method === 'GET' && !path.includes('{'))) {
      const response = await send(route, other);
      const text = await response.text();
      expect({ route, leaks: text.includes(id) || text.includes('secret') }).toEqual({ route, leaks: false });
    }
    expect(await stage.client.trace(id)).toEqual(before);
    expect((await allRuns()).map(({ workflowId }) => workflowId).sort()).toEqual([id, own].sort());

    const idsOf = async (key: string): Promise<string[]> => {
      const response = await send({ method: 'GET', path: '/api/solves' }, key);
      const { runs } = (await response.json()) as { readonly runs: readonly SolveResult[] };
      return runs.map((run) => run.id);
    };
    expect([await idsOf(owner), await idsOf(other)]).toEqual([[id], [own]]);
    const admin = await gateway.key({ isAdmin: true });
    expect((await idsOf(admin)).sort()).toEqual([id, own].sort());
    for (const solve of [id, own]) {
      const path = `/api/solves/${solve}/cancel`;
      expect((await send({ method: 'POST', path }, admin)).status).toBe(200);
    }
  });
});

test('a workflow of another type is no solve at any route, whoever asks', async () => {
  const [owner, admin] = [await gateway.key(), await gateway.key({ isAdmin: true })];
  const workflowId = `gw-${owner.slice('sk-tc-'.length, 16)}-agent`;
  const notes = { created_at: 0, background: false, model: 'conductor', effort: null, metadata: {} };
  const more = { max_output_tokens: null, previous_response_id: null, user: null, trace: 'none' };
  const response = { ...notes, ...more, warnings: [], isInstructed: false };
  const { client } = stage.temporal;
  const run = await client.workflow.start('agent', {
    workflowId,
    taskQueue: stage.taskQueue,
    memo: { response },
  });
  const all = (await routes()).filter(({ path }) => path.includes('{id}'));
  for (const { method, path } of all) {
    for (const key of [owner, admin]) {
      const id = path.startsWith('/v1') ? `resp_${workflowId}` : workflowId;
      const { status } = await send({ method, path: path.replace('{id}', id) }, key);
      expect({ method, path, status }).toEqual({ method, path, status: 404 });
    }
  }
  const about = { question: 'And then?', after: workflowId };
  expect(await gateway.ask('POST', '/api/solves', about, { key: owner })).toMatchObject({ status: 404 });
  expect((await run.describe()).status.name).toBe('RUNNING');
  await run.terminate();
});

async function allRuns(): Promise<{ readonly workflowId: string }[]> {
  const runs: { readonly workflowId: string }[] = [];
  const query = `TaskQueue = '${stage.taskQueue}'`;
  for await (const { workflowId } of stage.temporal.client.workflow.list({ query }))
    runs.push({ workflowId });
  return runs;
}

test('every route except the public ones refuses a request without a valid key', async () => {
  const open = ['/health', '/openapi.json', '/session'];
  const all = await routes();
  for (const route of all) {
    for (const key of ['', 'sk-tc-0000000000-' + 'x'.repeat(43)]) {
      const { status } = await send({ ...route, path: route.path.replaceAll(/\{\w+\}/g, 'gw-x') }, key);
      expect({ route, isRefused: status === 401 }).toEqual({ route, isRefused: !open.includes(route.path) });
    }
  }
});
