import { execFile, execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import type { TestGateway } from './gateway';
import type { Stage } from './stage';

const FOLDER = join(__dirname, '../gateway/clients');
/** Time after which a client that hangs is ended, so that the failure names it. */
const HANGS_MS = 240_000;

const outcomeSchema = z.union([
  z.strictObject({ text: z.string(), tokens: z.number().positive() }),
  z.strictObject({ error: z.string() }),
]);
const reportSchema = z
  .record(z.string(), outcomeSchema)
  .refine((report) => Object.keys(report).length > 0, 'The client asked in no way.');

/** A file of `test/gateway/clients`, and what it is called with. */
export type ClientProgram = readonly [file: string, ...args: string[]];

/** What a client tells of one way in which it asked, and how often the worker was asked for it. */
export type ClientOutcome = z.infer<typeof outcomeSchema> & { readonly asked: number };

interface Asking {
  readonly stage: Stage;
  readonly gateway: TestGateway;
  readonly key: string;
  readonly model: string;
  readonly question: string;
  /** Worker whose requests are counted. */
  readonly worker: string;
}

let python: string | undefined;

/** Installs the clients that test the gateway if they are missing, and returns the path of their Python. */
export function prepareClients(): string {
  const script = join(__dirname, '../../scripts/prepare-clients.mjs');
  python ??= execFileSync(process.execPath, [script], { encoding: 'utf8' }).trim();
  return python;
}

/**
 * Runs a client in a process of its own, given only an address, a key, a model and a question. Returns its outcomes by
 * the names of its ways; a name stands at the end of the question that is asked so.
 */
export async function runClient(
  [file, ...args]: ClientProgram,
  { stage, gateway, key, model, question, worker }: Asking,
): Promise<Readonly<Record<string, ClientOutcome>>> {
  const env = {
    ...process.env,
    GATEWAY_URL: gateway.url,
    GATEWAY_KEY: key,
    GATEWAY_MODEL: model,
    GATEWAY_QUESTION: question,
    PYTHONDONTWRITEBYTECODE: '1',
  };
  const command = file.endsWith('.py') ? prepareClients() : process.execPath;
  const line = [join(FOLDER, file), ...args];
  const { stdout } = await promisify(execFile)(command, line, { env, timeout: HANGS_MS });
  // A client may have printed something of its own before the report.
  const report = reportSchema.parse(JSON.parse(stdout.trim().split('\n').at(-1) ?? ''));
  const outcomes = Object.entries(report).map(([way, outcome]) => {
    const asked = stage.requestsTo(worker).filter(({ body }) => body.includes(`${question} (${way})`)).length;
    return [way, { ...outcome, asked }] as const;
  });
  return Object.fromEntries(outcomes);
}
