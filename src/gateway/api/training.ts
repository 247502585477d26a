import { createRoute, z } from '@hono/zod-openapi';
import { quoteBriefly } from '../../plan/plan-error';
import type { ServingChange, TrainedNight } from '../../training/client';
import {
  canaryRecordSchema,
  cycleMetricsSchema,
  gateRecordSchema,
  type NightProgress,
  nightRecordSchema,
  servingSchema,
  trainRunSchema,
} from '../../training/definitions';
import { checkpointId, readCheckpointId } from '../../training/names';
import { requireAdmin } from '../access/admission';
import { type AuditAction, noteAudit } from '../access/audit';
import type { App, Gateway } from '../gateway';
import type { Key } from '../access/keys';
import { badRequest, Refusal } from '../refusal';
import { bodyOf, documented, jsonOf, refusals } from '../routes';
import { addCycles } from './cycles';

const trainedNightSchema = nightRecordSchema.extend({ cycles: z.array(cycleMetricsSchema).readonly() });
const nightSchema = documented<TrainedNight>('Night', trainedNightSchema);
const judgedSchema = documented(
  'JudgedNight',
  trainedNightSchema.extend({ gate: gateRecordSchema.nullable(), canary: canaryRecordSchema.nullable() }),
);
const runSchema = z.object({ trainRun: z.string(), nights: z.array(nightSchema).readonly() });
const progressSchema = z.custom<NightProgress>().openapi('NightProgress', { type: 'object' });
const serving = documented('Serving', servingSchema);
const changeSchema = z.object({ changed: z.boolean(), sentence: z.string(), serving });
const reason = z.string().min(1).max(1000);

const nightsRoute = createRoute({
  method: 'get',
  path: '/api/nights',
  summary: 'List the nights of all training runs, with their cycles',
  responses: { 200: jsonOf(z.array(runSchema), 'Each training run with its nights'), ...refusals },
});

const runRoute = createRoute({
  method: 'get',
  path: '/api/nights/{trainRun}',
  summary: 'Read the nights of a training run, and the progress of the running one',
  request: { params: z.object({ trainRun: z.string() }) },
  responses: {
    200: jsonOf(runSchema.extend({ underWay: progressSchema.nullable() }), 'Nights that have started'),
    ...refusals,
  },
});

const nightRoute = createRoute({
  method: 'get',
  path: '/api/nights/{trainRun}/{date}',
  summary: 'Read one night, with the findings of its gate and canary',
  request: { params: z.object({ trainRun: z.string(), date: z.string() }) },
  responses: { 200: jsonOf(judgedSchema, 'The night, with its cycles'), ...refusals },
});

const checkpointsRoute = createRoute({
  method: 'get',
  path: '/api/checkpoints',
  summary: 'List checkpoints, and read which one serves',
  responses: {
    200: jsonOf(
      z.object({ serving, checkpoints: z.array(z.string()) }),
      'Their ids, and the one that serves',
    ),
    ...refusals,
  },
});

/** Adds the routes of nights and checkpoints. What reads them is loaded on first use: most gateways never need it. */
export function addTraining(app: App, gateway: Gateway): void {
  const { store, temporal: client } = gateway;
  app.openapi(nightsRoute, async (c) => {
    const { readTrainRuns } = await import('../../training/client/index.js');
    return c.json(await readTrainRuns(store), 200);
  });
  app.openapi(runRoute, async (c) => {
    const { trainRun } = c.req.valid('param');
    const nights = await nightsOf(gateway, trainRun);
    const { TrainingClient } = await import('../../training/client/index.js');
    const underWay = await new TrainingClient({ client }).progress(trainRun);
    return c.json({ trainRun, nights, underWay }, 200);
  });
  app.openapi(nightRoute, async (c) => {
    const { trainRun, date } = c.req.valid('param');
    const night = (await nightsOf(gateway, trainRun)).find((each) => each.date === date);
    if (night === undefined) throw unknown(`night ${date} of training run ${trainRun}`);
    const { readGate, readCanary } = await import('../../training/client/index.js');
    const [gate, canary] = await Promise.all([
      readGate(store, trainRun, date),
      readCanary(store, trainRun, date),
    ]);
    return c.json({ ...night, gate, canary }, 200);
  });
  app.openapi(checkpointsRoute, async (c) => {
    const { listCheckpoints, listTrainRuns, readServing } = await import('../../training/client/index.js');
    const names = (await listTrainRuns(store)).map(async (trainRun) => {
      return (await listCheckpoints(store, trainRun)).map((name) => checkpointId({ trainRun, name }));
    });
    return c.json({ serving: await readServing(store), checkpoints: (await Promise.all(names)).flat() }, 200);
  });
  addCycles(app, gateway);
  addServing(app, gateway);
}

async function nightsOf({ store }: Gateway, trainRun: string): Promise<TrainedNight[]> {
  const { readNights } = await import('../../training/client/index.js');
  const nights = trainRunSchema.safeParse(trainRun).success ? await readNights(store, trainRun) : [];
  if (nights.length === 0) throw unknown(`night of a training run ${trainRun}`);
  return nights;
}

function unknown(what: string): Refusal {
  const message = `there is no ${what.slice(0, 200)}: GET /api/nights lists those that exist`;
  return new Refusal(404, message, { reason: 'not_found' });
}

const promoteSchema = z.strictObject({ checkpoint: z.string(), reason: reason.default('promoted by hand') });
const rollbackSchema = z.strictObject({ reason: reason.default('rolled back by hand') });
const pinSchema = z.strictObject({ pinned: z.boolean().default(true) });

const servingRoute = <Schema extends z.ZodType>(name: string, summary: string, schema: Schema) =>
  createRoute({
    method: 'post',
    path: `/api/checkpoints/${name}`,
    summary: `${summary}; needs an admin key`,
    request: { body: bodyOf(schema) },
    responses: { 200: jsonOf(changeSchema, 'What serves now'), ...refusals },
  });

const promoteRoute = servingRoute('promote', 'Have a checkpoint serve from the next solve on', promoteSchema);
const rollbackRoute = servingRoute('rollback', 'Have the previous checkpoint serve again', rollbackSchema);
const pinRoute = servingRoute('pin', 'Keep the gate from changing what serves, or allow it again', pinSchema);

function addServing(app: App, gateway: Gateway): void {
  const { store } = gateway;
  app.openapi(promoteRoute, async (c) => {
    requireAdmin(c.get('key'));
    const { checkpoint: id, reason } = c.req.valid('json');
    const checkpoint = readCheckpointId(id);
    if (checkpoint === null)
      throw badRequest(
        `checkpoint is ${quoteBriefly(id)}: expected RUN/NAME, such as nightly/000040`,
        'checkpoint',
      );
    const { promote, PolicyError } = await import('../../training/client/index.js');
    const change = await promote(store, checkpoint, { reason, by: 'person' }).catch((error: unknown) => {
      if (!(error instanceof PolicyError)) throw error;
      throw new Refusal(404, error.message, { reason: error.code });
    });
    return c.json(await told(gateway, c.get('key'), 'promote', change), 200);
  });
  app.openapi(rollbackRoute, async (c) => {
    requireAdmin(c.get('key'));
    const { rollback } = await import('../../training/client/index.js');
    const change = await rollback(store, c.req.valid('json').reason);
    return c.json(await told(gateway, c.get('key'), 'rollback', change), 200);
  });
  app.openapi(pinRoute, async (c) => {
    requireAdmin(c.get('key'));
    const { pinned } = c.req.valid('json');
    const { pin } = await import('../../training/client/index.js');
    const change = await pin(store, pinned, pinned ? 'pinned by hand' : 'unpinned by hand');
    return c.json(await told(gateway, c.get('key'), 'pin', change), 200);
  });
}

/** @throws Refusal if another process changed it first */
async function told({ store }: Gateway, key: Key, action: AuditAction, change: ServingChange) {
  const { changed, overtaken, sentence, serving } = change;
  if (overtaken) throw new Refusal(409, sentence, { reason: 'overtaken' });
  if (changed) {
    const target = serving.serving === null ? 'none' : checkpointId(serving.serving);
    const { reason, pinned } = serving;
    await noteAudit(store, { keyId: key.id, keyName: key.name, action, target, detail: { reason, pinned } });
  }
  return { changed, sentence, serving };
}
