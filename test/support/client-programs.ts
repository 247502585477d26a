import { execFile, execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import type { TestGateway } from './gateway';

const FOLDER = join(__dirname, '../gateway/clients');
/** Time after which a client that hangs is ended, so that the failure names it. */
const HANGS_MS = 240_000;

const outcomeSchema = z.union([
  z.strictObject({ text: z.string(), tokens: z.number().positive() }),
  z.strictObject({ error: z.string() }),
]);
const reportSchema = z.record(z.string(), outcomeSchema);

let python: string | undefined;

/** Installs the clients that test the gateway if they are missing, and returns the path of their Python. */
export function prepareClients(): string {
  const script = join(__dirname, '../../scripts/prepare-clients.mjs');
  python ??= execFileSync(process.execPath, [script], { encoding: 'utf8' }).trim();
  return python;
}

/**
 * Runs one of `test/gateway/clients` in a process of its own, given only an address, a key, a model and a question.
 * Returns what came of each way in which it asks, by the way's name, which stands at the end of its question.
 */
export async function runClient(
  [file, ...args]: readonly [string, ...string[]],
  { gateway, key, model, question }: { gateway: TestGateway; key: string; model: string; question: string },
): Promise<z.infer<typeof reportSchema>> {
  const env = {
    ...process.env,
    GATEWAY_URL: gateway.url,
    GATEWAY_KEY: key,
    GATEWAY_MODEL: model,
    GATEWAY_QUESTION: question,
    PYTHONDONTWRITEBYTECODE: '1',
  };
  const command = file.endsWith('.py') ? prepareClients() : process.execPath;
  const { stdout } = await promisify(execFile)(command, [join(FOLDER, file), ...args], {
    env,
    timeout: HANGS_MS,
  });
  // A client may have printed something of its own before the report.
  return reportSchema.parse(JSON.parse(stdout.trim().split('\n').at(-1) ?? ''));
}
