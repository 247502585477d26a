import type { IncomingHttpHeaders } from 'node:http';

/**
 * The body that lists models at a path asked with GET; null for any other path. OpenAI and Anthropic share
 * `/v1/models`; only Anthropic's clients send `anthropic-version`.
 */
export function listModels(
  path: string,
  headers: IncomingHttpHeaders,
  models: readonly string[],
): object | null {
  if (path === '/v1beta/models') return { models: models.map((id) => ({ name: `models/${id}` })) };
  if (path !== '/v1/models') return null;
  if (headers['anthropic-version'] === undefined) {
    const data = models.map((id) => ({ id, object: 'model', created: 0, owned_by: 'simulation' }));
    return { object: 'list', data };
  }
  return {
    data: models.map((id) => ({ id, type: 'model', display_name: id, created_at: '1970-01-01T00:00:00Z' })),
    has_more: false,
    first_id: models.at(0) ?? null,
    last_id: models.at(-1) ?? null,
  };
}
