import type { ConfigInput } from '../../src';
import { parseConfig } from '../../src/config/load';
import { resolveRun } from '../../src/config/resolve-run';
import { errandsOfTools, refuseUnrepeatable } from '../../src/config/tools';

const model = { provider: 'openai', model: 'sim-1', apiKeyEnv: 'KEY' } as const;

function parse(tools: unknown, listed: readonly string[] = ['shelf'], worker: object = model) {
  return parseConfig({
    conductor: model,
    workers: [
      { id: 'ada', ...worker, tools: listed },
      { id: 'ben', ...model },
    ],
    tools,
  } as unknown as ConfigInput);
}

const shelf = { mcp: { command: ['node', 'shelf.js'] }, allow: ['look', 'order'], repeatable: ['look'] };
const stock = {
  activity: { type: 'countStock', taskQueue: 'erp' },
  description: 'Counts the stock.',
  input: { type: 'object' },
};

test('a run knows the tools that its workers list, and neither address, program nor variable of a server', () => {
  const remote = {
    mcp: { url: 'https://tools.example/mcp', headersEnv: { Authorization: 'TOKEN' } },
    allow: ['find'],
  };
  const run = resolveRun(parse({ shelf, stock, remote }, ['shelf.order', 'remote', 'stock']));
  expect(run.toolset).toMatchObject({ turns: 10, calls: 50, resultBytes: 65_536 });
  expect(run.toolset?.cards).toMatchObject([
    { kind: 'mcp', name: 'shelf', allow: ['order'] },
    { kind: 'activity', name: 'stock', type: 'countStock', taskQueue: 'erp', repeatable: false },
    { kind: 'mcp', name: 'remote', allow: ['find'] },
  ]);
  expect(JSON.stringify(run)).not.toMatch(/tools\.example|TOKEN|shelf\.js/);
});

test('a price is of each tool of an entry, and none is of no kind but a cost', () => {
  const price = { perCall: 0.01 };
  const run = resolveRun(
    parse({ shelf: { ...shelf, price }, stock: { ...stock, price } }, ['shelf', 'stock']),
  );
  expect(run.toolset?.cards).toMatchObject([{ price }, { price }]);
  expect(() => parse({ shelf: { ...shelf, price: { perCall: -1 } } })).toThrow(/tools\.shelf/);
});

test('without tools, a run is as it was', () => {
  const config = parseConfig({ conductor: model, workers: [{ id: 'ada', ...model }] });
  expect(resolveRun(config)).not.toHaveProperty('toolset');
  expect(resolveRun(config).workers[0]).not.toHaveProperty('tools');
});

test.each<[string, unknown, readonly string[], RegExp]>([
  [
    'no such entry',
    { shelf },
    ['shlef'],
    /workers\[0\]\.tools\[0\] is "shlef": expected one of shelf, shelf\.look, shelf\.order/,
  ],
  ['no tools at all', undefined, ['shelf'], /workers\[0\]\.tools\[0\] is "shelf": add it to "tools:"/],
  ['a tool that is not allowed', { shelf }, ['shelf.burn'], /expected one of shelf, shelf\.look/],
  [
    'repeatable and not allowed',
    { shelf: { ...shelf, repeatable: ['burn'] } },
    ['shelf'],
    /tools\.shelf\.repeatable\[0\] is "burn": expected one of look, order/,
  ],
  [
    'a key in the file',
    { a: { mcp: { url: 'https://x.example', headersEnv: { Authorization: 'Bearer sk-1' } }, allow: ['b'] } },
    ['a'],
    /name of an environment variable/,
  ],
  [
    'plain http to another machine',
    { a: { mcp: { url: 'http://x.example/mcp' }, allow: ['b'] } },
    ['a'],
    /expected https/,
  ],
  ['nothing allowed', { a: { mcp: { url: 'https://x.example' } } }, ['a'], /allow/],
  ['a name with a dot', { 'a.b': shelf }, [], /lowercase letters, digits and dashes/],
])('refuses %s in a sentence', (_, tools, listed, expected) => {
  expect(() => parse(tools, listed.length === 0 ? ['shelf'] : listed)).toThrow(expected);
});

test('a local model has no tools', () => {
  expect(() => parse({ shelf }, ['shelf'], { provider: 'local', model: 'smollm2' })).toThrow(/tools/);
});

test('a baseline has no tools', () => {
  const workers = [{ id: 'ada', ...model }];
  const baselines = [{ id: 'bea', ...model, tools: ['shelf'] }];
  const config = { conductor: model, workers, baselines, tools: { shelf } } as unknown as ConfigInput;
  expect(() => parseConfig(config)).toThrow(
    /baselines\[0\]\.tools .*: evaluations ask baselines without tools; remove it/,
  );
});

test('what runs many times may call repeatable tools alone', () => {
  expect(() => {
    refuseUnrepeatable(resolveRun(parse({ shelf }, ['shelf.look'])), 'a night');
  }).not.toThrow();
  expect(() => {
    refuseUnrepeatable(resolveRun(parse({ shelf, stock }, ['shelf', 'stock'])), 'a night');
  }).toThrow(/a night asks the same workers .* may call shelf\.order, stock, which is not repeatable/);
});

test("a stranger's tools are errands to ask about: programs, servers, and what these are sent", () => {
  const remote = {
    mcp: { url: 'https://tools.example/mcp', headersEnv: { Authorization: 'TOKEN' } },
    allow: ['find'],
  };
  expect(errandsOfTools(parse({ shelf, stock, remote }))).toEqual([
    'PROGRAM=node shelf.js',
    'TOOLS=https://tools.example',
    'TOKEN=https://tools.example',
  ]);
});
