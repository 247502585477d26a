import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { closedPort } from './closed-port';
import { until } from './until';

const ROOT = join(__dirname, '..', '..');

/** Whether this machine has Prometheus and its promtool, as Debian packages them. */
export const HAS_PROMETHEUS = ['prometheus', 'promtool'].every(
  (program) => spawnSync(program, ['--version']).status === 0,
);

const answerSchema = z.object({
  status: z.string(),
  error: z.string().optional(),
  data: z.object({ result: z.array(z.object({ value: z.tuple([z.number(), z.string()]) })) }).optional(),
});
type PrometheusAnswer = z.output<typeof answerSchema>;

interface Prometheus {
  readonly ask: (query: string) => Promise<PrometheusAnswer>;
  readonly close: () => Promise<void>;
}

/** Starts a Prometheus with the rules of `deploy/alerts.yaml`, which scrapes an address each second. */
export async function startPrometheus(scraped: string): Promise<Prometheus> {
  const folder = await mkdtemp(join(tmpdir(), 'prometheus-'));
  const file = join(folder, 'prometheus.yml');
  const content = {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: [join(ROOT, 'deploy', 'alerts.yaml')],
    scrape_configs: [{ job_name: 'conductor', static_configs: [{ targets: [scraped] }] }],
  };
  // JSON is YAML.
  await writeFile(file, JSON.stringify(content));
  const address = `127.0.0.1:${await closedPort()}`;
  const settings = [
    `--config.file=${file}`,
    `--storage.tsdb.path=${folder}`,
    `--web.listen-address=${address}`,
  ];
  const child = spawn('prometheus', settings, { stdio: 'ignore' });
  const ask = async (query: string): Promise<PrometheusAnswer> => {
    const url = `http://${address}/api/v1/query?${new URLSearchParams({ query }).toString()}`;
    const answered = await fetch(url).catch(() => null);
    // It answers 503 until it has begun.
    if (answered === null || answered.status === 503) return { status: 'away' };
    return answerSchema.parse(await answered.json());
  };
  const close = async (): Promise<void> => {
    const ended = once(child, 'exit');
    child.kill();
    await ended;
    await rm(folder, { recursive: true });
  };
  const scrapes = until(
    () => ask('up == 1'),
    ({ data }) => data?.result.length === 1,
  );
  await scrapes.catch(async (error: unknown) => {
    await close();
    throw error;
  });
  return { ask, close };
}

/** Tests the alert rules against what `test/deploy/alerts-test.yaml` tells of series. */
export function testRules(): { readonly status: number | null; readonly stderr: string } {
  const file = join(ROOT, 'test', 'deploy', 'alerts-test.yaml');
  return spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' });
}
