import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openGateway } from '../support/gateway';
import { useStage } from '../support/stage';

const stage = useStage({ workers: ['a'] });

const COMMITTED = join(__dirname, '..', '..', 'docs', 'openapi.json');

test('the document that is served is the committed one; if it is not, run "npm run generate"', async () => {
  const gateway = await openGateway(stage);
  const response = await fetch(`${gateway.url}/openapi.json`);
  const served = await response.json();
  await gateway.close();
  expect(served).toEqual(JSON.parse(await readFile(COMMITTED, 'utf8')));
});

test('the document is valid OpenAPI', async () => {
  // This module is ESM only, which jest does not load.
  const validator = require.resolve('@seriousme/openapi-schema-validator/bin/validate-api-cli.js');
  const { stdout } = await promisify(execFile)(process.execPath, [validator, COMMITTED]);
  expect(JSON.parse(stdout)).toEqual({ valid: true });
});

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly requestBody?: unknown }>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
}

/** Returns the routes that take a body, with the schema of the body. */
async function routesWithBody(): Promise<(readonly [path: string, schema: unknown, whole: OpenApi])[]> {
  const whole = JSON.parse(await readFile(COMMITTED, 'utf8')) as OpenApi;
  return Object.entries(whole.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { requestBody }]) => requestBody !== undefined)
      .map(([method, { requestBody }]) => {
        // The gateway reads the bodies of no other method.
        expect([path, method]).toEqual([path, 'post']);
        return [path, requestBody, whole] as const;
      }),
  );
}

/** Yields the places of lists without a bound, with the schemas that are referred to. */
function* boundless(part: unknown, place: string, { components }: OpenApi): Generator<string> {
  if (typeof part !== 'object' || part === null) return;
  const { $ref, type, maxItems } = part as { $ref?: unknown; type?: unknown; maxItems?: unknown };
  if (type === 'array' && maxItems === undefined) yield place;
  if (typeof $ref === 'string') {
    const name = $ref.replace('#/components/schemas/', '');
    yield* boundless(components.schemas[name], `${place}:${name}`, { components, paths: {} });
  }
  for (const [key, value] of Object.entries(part)) {
    yield* boundless(value, `${place}.${key}`, { components, paths: {} });
  }
}

test('each list that a body may hold has a bound', async () => {
  const routes = await routesWithBody();
  expect(routes.length).toBeGreaterThan(10);
  expect(routes.flatMap(([path, schema, whole]) => [...boundless(schema, path, whole)])).toEqual([]);
});

test('each route refuses too many values and too deep a nesting, before its schema sees them', async () => {
  const gateway = await openGateway(stage);
  for (const [path] of await routesWithBody()) {
    const at = path.replace(/\{.*?\}/g, 'some');
    for (const body of [`[${'1,'.repeat(60_000)}1]`, `${'['.repeat(200)}${']'.repeat(200)}`]) {
      const { status, body: answer } = await gateway.ask('POST', at, body);
      const { error } = answer as { readonly error: { readonly code?: string; readonly type: string } };
      expect([path, status, error.code ?? error.type]).toEqual([
        path,
        413,
        path.startsWith('/v1/messages') ? 'request_too_large' : 'too_large',
      ]);
    }
  }
  await gateway.close();
});
