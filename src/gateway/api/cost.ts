import { createRoute, z } from '@hono/zod-openapi';
import { quoteBriefly } from '../../plan/plan-error';
import { type CostQuery, readDay, sumCosts, withUsd } from '../../store/costs';
import { COST_GROUPS, type CalendarDay, type Store } from '../../store/store';
import type { App, Gateway } from '../gateway';
import { type Key, listKeys } from '../access/keys';
import { badRequest, Refusal } from '../refusal';
import { jsonOf, refusals } from '../routes';
import { prefixOf } from '../solve/start-solve';

const lineSchema = z
  .object({
    name: z.string(),
    calls: z.int(),
    open: z.int(),
    unknown: z.int(),
    inputTokens: z.int(),
    outputTokens: z.int(),
    nanoUsd: z.int(),
    savedNanoUsd: z.int(),
    costUsd: z.number(),
    costIsLowerBound: z.boolean(),
    savedUsd: z.number(),
  })
  .openapi('CostLine');
const reportSchema = z.object({ by: z.enum(COST_GROUPS), lines: z.array(lineSchema), total: lineSchema });

const route = createRoute({
  method: 'get',
  path: '/api/cost',
  summary:
    "Sum the cost of calls: of the key's own solves by workflow; with an admin key, of all calls by any group",
  request: {
    query: z.object({
      by: z.enum(COST_GROUPS).default('workflow'),
      since: z.string().optional().openapi({ format: 'date' }),
      until: z.string().optional().openapi({ format: 'date' }),
    }),
  },
  responses: {
    200: jsonOf(reportSchema, 'Lines, the most expensive first; days are in UTC'),
    ...refusals,
  },
});

/** Adds the cost route. The ledger shows a solve's key only by the workflow id, so other groups need an admin key. */
export function addCost(app: App, { store }: Gateway): void {
  app.openapi(route, async (c) => {
    const { by, since, until } = c.req.valid('query');
    const days = { since: dayOf(since, 'since'), until: dayOf(until, 'until') };
    const report = await sumCosts(store, { by, zone: 'utc', ...days, ...whose(c.get('key'), by) });
    const names = by === 'key' ? await keyNames(store) : null;
    const lines = report.lines.map((line) => withUsd({ ...line, name: names?.get(line.name) ?? line.name }));
    return c.json({ by, lines, total: withUsd(report.total) }, 200);
  });
}

/** Returns display names by key id; they include the id, since two keys may have had one name. */
async function keyNames(store: Store): Promise<Map<string, string>> {
  return new Map((await listKeys(store)).map(({ id, name }) => [id, `${name} (${id})`]));
}

function whose(key: Key, by: CostQuery['by']): Pick<CostQuery, 'prefix'> {
  if (key.isAdmin) return {};
  if (by === 'workflow') return { prefix: prefixOf(key) };
  const message = `by=${by} covers the solves of all keys, which needs an admin key: use by=workflow`;
  throw new Refusal(403, message, { reason: 'admin_key_required', param: 'by' });
}

function dayOf(name: string | undefined, param: string): CalendarDay | undefined {
  if (name === undefined) return undefined;
  const day = readDay(name, 'utc');
  if (day !== null) return day;
  throw badRequest(`${param} is ${quoteBriefly(name)}: expected a date, YYYY-MM-DD`, param);
}
