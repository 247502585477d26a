import { createRoute, z } from '@hono/zod-openapi';
import type { Details } from '../../evaluation/report';
import type { EvaluationManifest, Summary } from '../../evaluation/definitions';
import type { Store } from '../../store/store';
import { requireAdmin } from '../access/admission';
import type { App, Gateway } from '../gateway';
import { Refusal } from '../refusal';
import { jsonOf, refusals } from '../routes';

const listedSchema = z
  .object({
    id: z.string(),
    file: z.string(),
    questions: z.int(),
    methods: z.array(z.string()),
    workers: z.array(z.string()),
    seed: z.int(),
    startedAt: z.string(),
  })
  .openapi('ListedEvaluation');
const summarySchema = z.custom<Summary>().openapi('EvaluationSummary', { type: 'object' });

const detailsSchema = z.custom<Details>().openapi('EvaluationDetails', { type: 'object' });

const listRoute = createRoute({
  method: 'get',
  path: '/api/evaluations',
  summary: 'List evaluations, the newest first',
  responses: { 200: jsonOf(z.array(listedSchema), 'Their question files, methods and workers'), ...refusals },
});

const readRoute = createRoute({
  method: 'get',
  path: '/api/evaluations/{evaluation}',
  summary: 'Summarize an evaluation, finished or not',
  request: { params: z.object({ evaluation: z.string() }) },
  responses: { 200: jsonOf(summarySchema, 'Scores, costs and differences of its methods'), ...refusals },
});

const detailsRoute = createRoute({
  method: 'get',
  path: '/api/evaluations/{evaluation}/details',
  summary: 'Read its scores by data set, and questions on which methods disagree; needs an admin key',
  request: { params: z.object({ evaluation: z.string() }) },
  responses: { 200: jsonOf(detailsSchema, 'Tables, and pairs of answers with their plans'), ...refusals },
});

/**
 * Adds the evaluation routes. Questions may come from anyone's solves, so details need an admin key. What reads
 * evaluations is loaded on first use: most gateways never need it.
 */
export function addEvaluations(app: App, { store }: Gateway): void {
  app.openapi(listRoute, async (c) => {
    const { readEvaluationManifests } = await import('../../evaluation/report/index.js');
    const listed = (await readEvaluationManifests(store)).map((manifest) => {
      const { id, file, questions, methods, workers, seed, startedAt } = manifest;
      return { id, file, questions, methods, workers, seed, startedAt };
    });
    return c.json(listed, 200);
  });
  app.openapi(readRoute, async (c) => {
    const manifest = await requireEvaluation(store, c.req.valid('param').evaluation);
    const { readResults } = await import('../../evaluation/report/index.js');
    const { summarize } = await import('../../evaluation/definitions.js');
    return c.json(summarize(manifest, await readResults(store, manifest.id)), 200);
  });
  app.openapi(detailsRoute, async (c) => {
    requireAdmin(c.get('key'));
    const manifest = await requireEvaluation(store, c.req.valid('param').evaluation);
    if ((await store.stat(manifest.set)) === null) {
      const message = `the questions of evaluation ${manifest.id} are no longer in the store: evaluate ${manifest.file} again`;
      throw new Refusal(404, message, { reason: 'not_found' });
    }
    const { readDetails, readEvaluation } = await import('../../evaluation/report/index.js');
    const { summarize } = await import('../../evaluation/definitions.js');
    const evaluation = await readEvaluation(store, manifest);
    return c.json(await readDetails(store, evaluation, summarize(manifest, evaluation.records)), 200);
  });
}

async function requireEvaluation(store: Store, evaluation: string): Promise<EvaluationManifest> {
  const { readEvaluationManifest } = await import('../../evaluation/report/index.js');
  const manifest = await readEvaluationManifest(store, evaluation);
  if (manifest !== null) return manifest;
  const message = `there is no evaluation ${JSON.stringify(evaluation.slice(0, 100))}: GET /api/evaluations lists those that exist`;
  throw new Refusal(404, message, { reason: 'not_found' });
}
