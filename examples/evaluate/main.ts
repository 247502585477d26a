import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { startSimulatedProviders } from '../../src/testing';
import { modelsOf, PRICES, questionsOf, WORKERS } from './world';

// Evaluates a pool of known skills with the product's own command:
//   npm run eval:demo [-- --questions 60] [--out eval-demo] [--methods conductor,workers,vote]
// The models are simulated: no key, no network, no real money. Temporal, the command and the store are real.

const METHODS =
  'conductor,conductor:1,workers,best-of,vote,reflection,mixture,router,random,generic,silent,permuted';

async function main(): Promise<void> {
  const {
    questions: count,
    out,
    methods,
  } = parseArgs({
    options: {
      questions: { type: 'string', default: '60' },
      out: { type: 'string', default: 'eval-demo' },
      methods: { type: 'string', default: METHODS },
    },
  }).values;
  const questions = questionsOf(Number(count));
  const folder = await mkdtemp(join(tmpdir(), 'eval-demo-'));
  const providers = await startSimulatedProviders({ models: modelsOf(questions) });
  try {
    await writeFile(join(folder, 'conductor.yaml'), configuration(providers.url));
    await writeFile(join(folder, 'demo.jsonl'), questions.map((row) => `${JSON.stringify(row)}\n`).join(''));
    console.log('The pool is simulated; its skills are in examples/evaluate/world.ts.');
    const args = ['eval', 'demo.jsonl', '--methods', methods, '--max-cost', '10', '--out', resolve(out)];
    process.exitCode = await run(args, folder, providers.url);
  } finally {
    await providers.close();
    await rm(folder, { recursive: true, force: true });
  }
}

function configuration(url: string): string {
  const model = (name: string): object => ({
    provider: 'openai',
    model: name,
    baseUrl: `${url}/v1`,
    apiKeyEnv: 'DEMO_KEY',
    price: PRICES[name],
  });
  const workers = Object.keys(WORKERS).map((id) => ({ id, ...model(id) }));
  // JSON is valid YAML.
  return JSON.stringify({ conductor: model('conductor'), workers, recursion: 'review' });
}

async function run(args: readonly string[], folder: string, url: string): Promise<number> {
  const command = resolve(__dirname, '../../lib/cli/main.js');
  const env = { ...process.env, DEMO_KEY: 'simulated', CONDUCTOR_TRUST: `DEMO_KEY=${url}` };
  const child = spawn(process.execPath, [command, ...args], { cwd: folder, env, stdio: 'inherit' });
  // Ignored here: a terminal sends Ctrl-C to the command as well, which then ends by itself.
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : String(error));
  process.exit(1);
});
