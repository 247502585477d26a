import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { ROOT } from '../newcomer/pages';
import { faultsOfArguments, unreadVariables } from './disagreements';

const composeSchema = z.object({
  services: z.record(
    z.string(),
    z.looseObject({
      command: z.union([z.array(z.string()), z.string()]).optional(),
      environment: z.record(z.string(), z.unknown()).default({}),
      configs: z.array(z.object({ source: z.string(), target: z.string() })).default([]),
    }),
  ),
  configs: z.record(z.string(), z.object({ content: z.string().optional(), file: z.string().optional() })),
});

const read = (file: string): z.output<typeof composeSchema> =>
  composeSchema.parse(parse(readFileSync(join(ROOT, 'docker', file), 'utf8'), { merge: true }));
const compose = read('compose.yaml');
const observe = read('observe.yaml');
const PRODUCTS = ['worker', 'gateway', 'store-schema'];

test.each([
  ['compose.yaml', compose],
  ['observe.yaml', observe],
] as const)('%s: commands and variables of ours are known', (_, { services }) => {
  const ours = Object.entries(services).filter(([name]) => PRODUCTS.includes(name));
  const commands = ours.flatMap(([name, { command }]) =>
    Array.isArray(command) ? [{ name, args: command }] : [],
  );
  expect(commands.length).toBeGreaterThan(0);
  expect(commands.flatMap(faultsOfArguments)).toEqual([]);
  expect(unreadVariables(ours.flatMap(([, { environment }]) => Object.keys(environment)))).toEqual([]);
});

test('observe.yaml: Prometheus scrapes what listens, and every file that is mounted is there', () => {
  const scraped = observe.configs.prometheus?.content ?? '';
  const [, port] = /names: \[worker\], type: A, port: (\d+)/.exec(scraped) ?? [];
  expect(observe.services.worker?.command).toContain(`0.0.0.0:${port}`);
  expect(scraped).toContain("targets: ['gateway:8484']");
  expect(Object.keys(compose.services)).toEqual(expect.arrayContaining(['worker', 'gateway']));
  const used = Object.values(observe.services).flatMap(({ configs }) => configs.map(({ source }) => source));
  expect(used.sort()).toEqual(Object.keys(observe.configs).sort());
  const files = Object.values(observe.configs).flatMap(({ file }) => file ?? []);
  expect(files.filter((file) => !existsSync(join(ROOT, 'docker', file)))).toEqual([]);
});
