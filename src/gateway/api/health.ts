import { createRoute, z } from '@hono/zod-openapi';
import { requireAdmin } from '../access/admission';
import type { App, Gateway } from '../gateway';
import { within } from '../../runtime/turns';
import { jsonOf, refusals, UNKEYED } from '../routes';

const healthSchema = z
  .object({ temporal: z.boolean(), store: z.boolean(), worker: z.boolean() })
  .openapi('Health');
type Health = z.infer<typeof healthSchema>;

const healthRoute = createRoute({
  method: 'get',
  path: '/health',
  summary: 'Check whether a solve could be started now',
  security: UNKEYED,
  responses: {
    200: jsonOf(healthSchema, 'Temporal and the store answer, and a worker polls'),
    503: jsonOf(healthSchema, 'Temporal, the store or a worker does not answer'),
  },
});

const metricsRoute = createRoute({
  method: 'get',
  path: '/metrics',
  summary: 'Read counters for Prometheus; needs an admin key',
  responses: {
    200: { content: { 'text/plain': { schema: z.string() } }, description: 'Text format 0.0.4' },
    ...refusals,
  },
});

export function addHealth(app: App, gateway: Gateway): void {
  const check = remembering(() => checkHealth(gateway));
  app.openapi(healthRoute, async (c) => {
    const health = await check();
    return c.json(health, Object.values(health).every(Boolean) ? 200 : 503);
  });
  app.openapi(metricsRoute, async (c) => {
    requireAdmin(c.get('key'));
    const all = gateway.metrics.render() + (await readWorkerMetrics(gateway));
    return c.text(all, 200, { 'content-type': 'text/plain; version=0.0.4' });
  });
}

/** Paths that Claude Code probes, without a key, before its first request. */
const PROBED = ['/', '/api/hello'];

/** Answers these probes; to be added before all routes that need a key. */
export function answerProbes(app: App): void {
  for (const path of PROBED)
    app.use(path, (c, next) => (c.req.method === 'HEAD' ? Promise.resolve(c.body(null, 200)) : next()));
}

/** Timeout of each check, longer than a healthy server or store takes to answer. */
const TIMEOUT_MS = 3000;

/** Returns the metrics of the worker beside this gateway; nothing while it is away, as Prometheus would show it. */
async function readWorkerMetrics({ workerMetrics: address }: Gateway): Promise<string> {
  if (address === undefined) return '';
  // A wildcard address can be listened on, but not called.
  const reached = address.replace(/^0\.0\.0\.0:/, '127.0.0.1:').replace(/^\[::\]:/, '[::1]:');
  const answer = fetch(`http://${reached}/metrics`, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  return answer.then(
    (response) => (response.ok ? response.text() : ''),
    () => '',
  );
}

async function checkHealth({ workers, store }: Gateway): Promise<Health> {
  const orNothing = (asked: Promise<boolean>) => within(TIMEOUT_MS, asked).catch(() => null);
  const [polled, read] = await Promise.all([
    orNothing(workers.areThere()),
    orNothing(store.read('gateway/health.json').then(() => true)),
  ]);
  return { temporal: polled !== null, store: read !== null, worker: polled === true };
}

/** Cache lifetime: the route needs no key, so calls to it must not each reach the server and the store. */
const FRESH_MS = 2000;

function remembering<Value>(ask: () => Promise<Value>): () => Promise<Value> {
  let last: { readonly value: Promise<Value>; readonly at: number } | null = null;
  return () => {
    const now = performance.now();
    if (last === null || now - last.at > FRESH_MS) last = { value: ask(), at: now };
    return last.value;
  };
}
