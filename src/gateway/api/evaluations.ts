import { createRoute, z } from '@hono/zod-openapi';
import { readManifest, readManifests, readResults } from '../../evaluation/activities/kept';
import { type Summary, summarize } from '../../evaluation/summarize';
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

const listRoute = createRoute({
  method: 'get',
  path: '/api/evaluations',
  summary: 'List evaluations, the newest first',
  responses: { 200: jsonOf(z.array(listedSchema), 'What each asked, of whom'), ...refusals },
});

const readRoute = createRoute({
  method: 'get',
  path: '/api/evaluations/{evaluation}',
  summary: 'Sum up an evaluation, as far as it is',
  request: { params: z.object({ evaluation: z.string() }) },
  responses: { 200: jsonOf(summarySchema, 'Scores, costs and differences of its methods'), ...refusals },
});

/** What evaluations found. They belong to the operator, and hold nothing of any key's solves. */
export function addEvaluations(app: App, { store }: Gateway): void {
  app.openapi(listRoute, async (c) => {
    const listed = (await readManifests(store)).map((manifest) => {
      const { id, file, questions, methods, workers, seed, startedAt } = manifest;
      return { id, file, questions, methods, workers, seed, startedAt };
    });
    return c.json(listed, 200);
  });
  app.openapi(readRoute, async (c) => {
    const { evaluation } = c.req.valid('param');
    const manifest = await readManifest(store, evaluation);
    if (manifest !== null) return c.json(summarize(manifest, await readResults(store, evaluation)), 200);
    const message = `there is no evaluation ${JSON.stringify(evaluation.slice(0, 100))}: GET /api/evaluations lists what there is`;
    throw new Refusal(404, message, { reason: 'not_found' });
  });
}
