import { readVersion } from '../version';
import type { App } from './gateway';

/** Returns the OpenAPI document of an app's routes; `docs/openapi.json` is a copy of it. */
export function documentOf(app: App): ReturnType<App['getOpenAPI31Document']> {
  return app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'temporal-conductor gateway',
      version: readVersion(),
      description:
        '`/v1` serves clients of OpenAI and Anthropic; `/api` offers what the command line can steer.',
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ key: [] }],
  });
}

/** Serves the document without a key: all of it is public. */
export function addDocument(app: App): void {
  app.openAPIRegistry.registerComponent('securitySchemes', 'key', {
    type: 'http',
    scheme: 'bearer',
    description: 'A key from `temporal-conductor key create`; the header `x-api-key` takes it, too',
  });
  app.get('/openapi.json', (c) => c.json(documentOf(app)));
}
