import { createRoute, z } from '@hono/zod-openapi';
import { previewOf } from '../../protocol/text';
import type { Store } from '../../store/store';
import { cycleMetricsSchema, groupRecordSchema, trainRunSchema } from '../../training/definitions';
import { requireAdmin } from '../access/admission';
import type { App, Gateway } from '../gateway';
import { Refusal } from '../refusal';
import { documented, jsonOf, refusals } from '../routes';

const rolloutSchema = groupRecordSchema.shape.rollouts.unwrap().element;
const groupSchema = groupRecordSchema.omit({ samples: true, rollouts: true }).extend({
  /** Null if its question set is gone. */
  text: z.string().nullable(),
  rollouts: z.array(rolloutSchema.extend({ answer: z.string().nullable() })).readonly(),
});
const cycleSchema = documented(
  'Cycle',
  z.object({
    trainRun: z.string(),
    cycle: z.int(),
    /** Null while the cycle is running. */
    metrics: cycleMetricsSchema.nullable(),
    groups: z.array(groupSchema).readonly(),
  }),
);

const cycleRoute = createRoute({
  method: 'get',
  path: '/api/nights/{trainRun}/cycles/{cycle}',
  summary: 'Read what was tried in a cycle: questions, plans, verdicts and rewards; needs an admin key',
  request: { params: z.object({ trainRun: z.string(), cycle: z.coerce.number().int().positive() }) },
  responses: {
    200: jsonOf(cycleSchema, 'Its finished groups, with long answers cut'),
    ...refusals,
  },
});

/** Adds the cycle route. Questions may come from anyone's solves, so only an admin key may read them. */
export function addCycles(app: App, { store }: Gateway): void {
  app.openapi(cycleRoute, async (c) => {
    requireAdmin(c.get('key'));
    const { trainRun, cycle } = c.req.valid('param');
    const isName = trainRunSchema.safeParse(trainRun).success;
    const { readCycle, readCycleGroups } = await import('../../training/client/index.js');
    const metrics = isName ? await readCycle(store, trainRun, cycle) : null;
    const kept = isName ? await readCycleGroups(store, trainRun, cycle) : [];
    if (metrics === null && kept.length === 0) throw unknownCycle(trainRun, cycle);
    const texts = kept.length === 0 ? new Map<string, string>() : await textsOf(store, trainRun, cycle);
    const groups = kept.map((group) => ({
      ...group,
      samples: undefined,
      text: texts.get(group.question) ?? null,
      rollouts: group.rollouts.map(({ answer, ...rest }) => ({
        ...rest,
        answer: answer === null ? null : previewOf(answer),
      })),
    }));
    return c.json({ trainRun, cycle, metrics, groups }, 200);
  });
}

/** Returns the texts of a cycle's questions by id, from the question set of its night. */
async function textsOf(store: Store, trainRun: string, cycle: number): Promise<Map<string, string>> {
  const { readNights } = await import('../../training/client/index.js');
  const { readQuestionSet } = await import('../../evaluation/activities/index.js');
  const nights = await readNights(store, trainRun);
  const night = nights.findLast(({ first, last }) => first <= cycle && cycle <= last);
  if (night === undefined) return new Map();
  const questions = await readQuestionSet(store, night.train.set).catch(() => []);
  return new Map(questions.map(({ id, question }) => [id, question]));
}

function unknownCycle(trainRun: string, cycle: number): Refusal {
  const message = `training run ${trainRun.slice(0, 100)} has no cycle ${cycle}: GET /api/nights lists those that exist`;
  return new Refusal(404, message, { reason: 'not_found' });
}
