import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import type { ConfigInput } from '../../src';
import { readGivenConfig } from '../../src/config/load';
import { ROOT } from '../newcomer/pages';
import { CUSTOM_KINDS } from './custom-kinds';
import { disagreementsOf, unreadVariables } from './disagreements';
import { allManifests, chartValues, type Template, templateIn } from './manifests';

const manifests = allManifests();
const pods = manifests.flatMap(({ file, spec }) => (spec?.template ? [[file, spec.template] as const] : []));

test.each(pods)('%s: pods ask of the product what it does', (_, template) => {
  expect(disagreementsOf(template)).toEqual([]);
});

test.each<[string, (template: Template) => void]>([
  ['runs serve, which is no command', ({ spec }) => spec.containers[0].args.splice(0, 1, 'serve')],
  ['says --helth, which its command does not know', ({ spec }) => spec.containers[0].args.push('--helth')],
  [
    "option '--health <port>' argument 'x' is invalid",
    ({ spec }) => spec.containers[0].args.push('--health', 'x'),
  ],
  ['does not listen on port 8090', ({ spec }) => spec.containers[0].args.splice(2, 1, '8091')],
  [
    'is scraped at port 9464, where it has no metrics',
    ({ spec }) => spec.containers[0].args.splice(4, 1, '9465'),
  ],
  [
    'answers no probe at /health',
    ({ spec: { containers } }) => {
      if (containers[0].livenessProbe) containers[0].livenessProbe.httpGet.path = '/health';
    },
  ],
  [
    'is killed after 29 s, but may need 30 s to stop',
    ({ spec }) => (spec.terminationGracePeriodSeconds = 29),
  ],
  [
    'migrate may do more than it needs',
    ({ spec: { initContainers } }) => {
      if (initContainers[0]) initContainers[0].securityContext.readOnlyRootFilesystem = false;
    },
  ],
])('a disagreement is said: %s', (said, change) => {
  const template = templateIn('worker.yaml');
  change(template);
  expect(disagreementsOf(template).join()).toContain(said);
});

test('a flag of the trainer that it does not know is said', () => {
  const template = templateIn('trainer.yaml');
  template.spec.containers[0].args.push('--artefacts=/x');
  expect(disagreementsOf(template)).toEqual([
    'conductor_trainer.worker is given --artefacts, which it does not know',
  ]);
});

test('every variable is read by something', () => {
  const config = manifests
    .flatMap(({ data = {} }) => Object.keys(data))
    .filter((key) => key !== 'conductor.yaml');
  const own = pods.flatMap(([, { spec }]) => [...spec.initContainers, ...spec.containers]);
  const chart = readFileSync(join(ROOT, 'deploy/chart/templates/_pod.tpl'), 'utf8');
  const ofChart = [...chart.matchAll(/\{ name: ([A-Z_]+), value/g)].map(([, name = '']) => name);
  const names = new Set([...config, ...own.flatMap(({ env }) => env.map(({ name }) => name)), ...ofChart]);
  expect(names.size).toBeGreaterThan(5);
  expect(unreadVariables([...names, 'CONDUCTOR_TRUTS'])).toEqual(['CONDUCTOR_TRUTS']);
});

test('the configuration can be read, trusts its store, and is that of the chart', () => {
  const [configuration, environment] = manifests.filter(({ file }) => file === 'configuration.yaml');
  const config: unknown = parse(configuration?.data?.['conductor.yaml'] ?? '');
  const { store } = readGivenConfig(config as ConfigInput);
  const { configuration: given, trust } = chartValues();
  expect(environment?.data?.CONDUCTOR_TRUST).toBe(`PGPASSWORD=postgres://${new URL(store).hostname}`);
  expect([given, trust]).toEqual([config, environment?.data?.CONDUCTOR_TRUST]);
});

test('workers and gateways of the chart are started as those of the plain manifests', () => {
  const started = (folder: string): string[] =>
    ['worker.yaml', 'gateway.yaml'].flatMap((file) => {
      const text = readFileSync(join(ROOT, 'deploy', folder, file), 'utf8');
      return [...text.matchAll(/\bargs: (.*)$/gm)].map(([, args = '']) => args);
    });
  expect(started('chart/templates')).toEqual(started('kubernetes'));
});

test('every value of the chart is used, and every used one is there', () => {
  const templates = readdirSync(join(ROOT, 'deploy/chart/templates'))
    .map((file) => readFileSync(join(ROOT, 'deploy/chart/templates', file), 'utf8'))
    .join('\n');
  const used = new Set([...templates.matchAll(/\.Values\.([\w.]+)/g)].map(([, path = '']) => path));
  const isWhole = (path: string): boolean => used.has(path);
  const leaves = (value: unknown, path: string): string[] =>
    isWhole(path) || typeof value !== 'object' || value === null
      ? [path]
      : Object.entries(value).flatMap(([key, each]) => leaves(each, path === '' ? key : `${path}.${key}`));
  expect(leaves(chartValues(), '').sort()).toEqual([...used].sort());
});

const custom = manifests.filter(({ kind }) => kind in CUSTOM_KINDS);

test.each(custom)('$file: $kind fits its definition', ({ file, ...manifest }) => {
  const check = new Ajv({ strict: true, strictRequired: false }).compile(CUSTOM_KINDS[manifest.kind] ?? {});
  check(manifest);
  expect([file, check.errors]).toEqual([file, null]);
});

test('a field that a custom kind does not know is refused', () => {
  const [deployment] = custom.flatMap(({ file, ...each }) =>
    file === 'worker-deployment.yaml' && each.kind === 'WorkerDeployment' ? [each] : [],
  );
  const check = new Ajv().compile(CUSTOM_KINDS.WorkerDeployment ?? {});
  expect(check(deployment)).toBe(true);
  expect(check({ ...deployment, spec: { ...deployment?.spec, sunsets: {} } })).toBe(false);
});
