import { createRoute, z } from '@hono/zod-openapi';
import type { App, Gateway } from '../gateway';
import { modelNames, readModel } from '../solve/request-of';
import { jsonOf, refusals } from '../routes';

const modelSchema = z
  .object({ id: z.string(), object: z.literal('model'), created: z.int(), owned_by: z.string() })
  .openapi('Model');
const listSchema = z.object({ object: z.literal('list'), data: z.array(modelSchema) });

const listRoute = createRoute({
  method: 'get',
  path: '/v1/models',
  summary: 'List the models that the key may use',
  responses: { 200: jsonOf(listSchema, 'The models'), ...refusals },
});

const modelRoute = createRoute({
  method: 'get',
  path: '/v1/models/{model}',
  summary: 'Read one model',
  request: { params: z.object({ model: z.string() }) },
  responses: { 200: jsonOf(modelSchema, 'The model'), ...refusals },
});

const OWNER = 'temporal-conductor';

/** https://platform.openai.com/docs/api-reference/models */
export function addModels(app: App, { config }: Gateway): void {
  const modelOf = (id: string) => ({ id, object: 'model' as const, created: 0, owned_by: OWNER });
  app.openapi(listRoute, (c) =>
    c.json({ object: 'list' as const, data: modelNames(config, c.get('key')).map(modelOf) }, 200),
  );
  app.openapi(modelRoute, (c) => {
    const { model } = c.req.valid('param');
    readModel(model, c.get('key'), config);
    return c.json(modelOf(model), 200);
  });
}
