import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createKey } from '../../src/gateway/access';
import { MOST_LEVELS, MOST_VALUES } from '../../src/network/json-bounds';
import { useStage } from '../support/stage';
import { startMeasuredGateway } from './measured';
import { settingsOf } from './stage';

/*
 * The longest body of each route in hostile shapes, as far as the bounds let them: nobody else waits for it. It runs in
 * this lane, since it measures times; that each route has the bounds is tested in `openapi.test.ts`.
 */
jest.setTimeout(600_000);

const MOST_STOP_MS = 200;
const MOST_GROWTH_BYTES = 300 * 1024 * 1024;
/** What the work of the measured gateway takes on an idle machine; a slower one may stand still for longer. */
const USUAL_WORK_MS = 12;

/** Values for a part of a body that leaves `room` of the bound for the rest of it. */
const VALUES = MOST_VALUES - 100;
const times = (count: number, part: (index: number) => string): string =>
  Array.from({ length: Math.floor(count) }, (_, index) => part(index)).join(',');
const text = (bytes: number): string => `"${'x'.repeat(Math.max(0, bytes))}"`;

/** A JSON value of about so many bytes, or of as many values as are allowed. */
const SHAPES: Readonly<Record<string, (bytes: number) => string>> = {
  ones: (bytes) => `[${times(Math.min(VALUES, bytes / 2), () => '1')}]`,
  'more ones than are allowed': (bytes) => `[${times(bytes / 2 - 100, () => '1')}]`,
  'deep lists': (bytes) => {
    const levels = MOST_LEVELS - 16;
    return `[${times(Math.min(VALUES, bytes / 2) / (levels + 1), () => '['.repeat(levels) + ']'.repeat(levels))}]`;
  },
  'many keys': (bytes) =>
    `{${times(Math.min(VALUES, bytes / 100), (at) => `"${String(at).padStart(90, 'k')}":1`)}}`,
  'many parts': (bytes) => `[${times(Math.min(4_999, bytes / 32), () => '{"type":"text","text":"x"}')}]`,
  'long strings of escapes': (bytes) => `"${'\\u00e9'.repeat(bytes / 6 - 20)}"`,
  'huge numbers, and one key again and again': (bytes) =>
    `{${times(Math.min(VALUES, bytes / 2 / 16), () => '"a":1e999')},"b":${'9'.repeat(bytes / 2)}}`,
  'a schema of references': (bytes) => {
    const refs = times(Math.min(VALUES / 3, (bytes - 2000) / 24), () => '{"$ref":"#/$defs/a"}');
    return `{"$defs":{"a":{"properties":{${times(20, (at) => `"p${at}":{"minimum":1}`)}}}},"allOf":[${refs}]}`;
  },
  'parts that are long': (bytes) => `[${times(50, () => `{"type":"text","text":${text(bytes / 50 - 40)}}`)}]`,
};

type Bodies = (hostile: string) => readonly string[];
const asked = '"messages":[{"role":"user","content":"How many legs?"}]';
/** Bodies of each route with something hostile wherever a part of it is not a mere word. */
const BODIES: Readonly<Record<string, Bodies>> = {
  '/v1/chat/completions': (hostile) => [
    `{"model":"conductor","messages":${hostile}}`,
    `{"model":"conductor","messages":[{"role":"user","content":${hostile}}]}`,
    `{"model":"conductor",${asked},"conductor":{"pool":{"allow":${hostile}}}}`,
    `{"model":"conductor",${asked},"tools":${hostile}}`,
    `{"model":"conductor",${asked},"response_format":{"type":"json_schema","json_schema":{"schema":${hostile}}}}`,
  ],
  '/v1/messages': (hostile) => [
    `{"model":"conductor","max_tokens":9,"messages":${hostile}}`,
    `{"model":"conductor","max_tokens":9,"messages":[{"role":"user","content":${hostile}}]}`,
    `{"model":"conductor","max_tokens":9,${asked},"system":${hostile}}`,
  ],
  '/v1/responses': (hostile) => [
    `{"model":"conductor","input":${hostile}}`,
    `{"model":"conductor","input":[{"role":"user","content":${hostile}}]}`,
    `{"model":"conductor","input":"How many legs?","metadata":${hostile}}`,
    `{"model":"conductor","input":"How many legs?","text":{"format":{"type":"json_schema","schema":${hostile}}}}`,
  ],
  '/api/solves': (hostile) => [
    `{"messages":${hostile}}`,
    `{"messages":[{"role":"user","content":${hostile}}]}`,
    `{"question":${hostile}}`,
    `{"question":"How many legs?","answerSchema":${hostile}}`,
    `{"question":"How many legs?","limits":${hostile}}`,
  ],
  '/session': (hostile) => [hostile, `{"key":${hostile}}`],
};
const CHANGES: Bodies = (hostile) => [
  hostile,
  `{"plan":${hostile},"hint":${hostile}}`,
  `{"plan":{"steps":${hostile}}}`,
  `{"plan":{"steps":[{"worker":"a","subtask":"x","sees":${hostile}}]}}`,
];

const stage = useStage({ workers: ['a'] });

interface OpenApi {
  readonly paths: Readonly<Record<string, { readonly post?: { readonly requestBody?: unknown } }>>;
}
const ROUTES = Object.entries(
  (JSON.parse(readFileSync(join(__dirname, '../../docs/openapi.json'), 'utf8')) as OpenApi).paths,
).flatMap(([path, { post }]) => (post?.requestBody === undefined ? [] : [path]));

function bytesOf(path: string): number {
  if (path === '/session') return 4_000;
  return path.startsWith('/api/solves/') ? 500_000 : 8_000_000;
}

test('no body stops the gateway for longer than 200 ms of an idle machine, or takes 300 MB', async () => {
  const { secret } = await createKey(stage.store, settingsOf());
  const gateway = await startMeasuredGateway(stage);
  const post = async (path: string, body: string): Promise<number> => {
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
    const response = await fetch(gateway.url + path.replace('{id}', 'some'), {
      method: 'POST',
      headers,
      body,
    });
    await response.text();
    return response.status;
  };

  // Everything is loaded, and the bound of bytes was met once.
  for (const path of ROUTES) await post(path, '{}');
  await post('/v1/responses', text(8_000_000));
  await gateway.measure();
  const { mostBytes: before } = await gateway.measure();
  const found: { readonly what: string; readonly stopMs: number; readonly slower: number }[] = [];
  let mostBytes = before;
  for (const path of ROUTES) {
    const room = bytesOf(path);
    for (const [shape, make] of Object.entries(SHAPES)) {
      for (const [at, body] of (BODIES[path] ?? CHANGES)(make(room - 200)).entries()) {
        // A gateway that no worker polls refuses what is valid.
        const status = body.length > room ? 413 : await post(path, body);
        expect([path, shape, status >= 400 && (status < 500 || status === 503)]).toEqual([path, shape, true]);
        const measured = await gateway.measure();
        mostBytes = measured.mostBytes;
        const slower = Math.max(1, measured.workMs / USUAL_WORK_MS);
        found.push({ what: `${path} ${at}: ${shape}`, stopMs: measured.stopMs, slower });
      }
    }
  }
  await gateway.kill();
  const worst = found.sort((one, other) => other.stopMs / other.slower - one.stopMs / one.slower).slice(0, 8);
  console.info(worst, { beforeMB: before / 1e6, mostMB: mostBytes / 1e6, requests: found.length });
  expect(worst.filter(({ stopMs, slower }) => stopMs > MOST_STOP_MS * slower)).toEqual([]);
  expect(mostBytes - before).toBeLessThan(MOST_GROWTH_BYTES);
});
