import { writeFile } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { stringify } from 'yaml';
import { VENDORS } from '../../config/cards';
import { findPool } from '../../config/default-pool';
import { configPath } from '../../config/load';
import type { ConfigInput } from '../../config/schema';
import { codeOf } from '../../reason-of';
import { EXIT, type ExitCode, UsageError } from '../exit-code';
import { say } from '../terminal';

/** Lies beside the built package, see `scripts/write-schema.mjs`. */
const SCHEMA = join(__dirname, '..', '..', 'conductor.schema.json');

/** `init`: writes a `conductor.yaml` from the keys and servers of this machine. No file is ever overwritten. */
export async function init({ config: path }: { readonly config?: string }): Promise<ExitCode> {
  const file = configPath({ env: process.env, cwd: process.cwd(), path });
  const pool = await findPool(process.env);
  if (pool === null) {
    const keys = Object.values(VENDORS).map(({ apiKeyEnv }) => apiKeyEnv);
    throw new UsageError(
      `no vendor's key and no model server was found: set one of ${keys.join(', ')}, or start a server such as ` +
        'Ollama, and run init again',
    );
  }
  try {
    await writeFile(file, textOf(pool, file), { flag: 'wx' });
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    throw new UsageError(`${file} exists already; name another file with --config`, { cause: error });
  }
  say(`Wrote ${file}: workers ${pool.workers.map(({ id }) => id).join(', ')}.`);
  say(
    'Next: "temporal-conductor pool check" makes one tiny call to each, "temporal-conductor solve" asks them.',
  );
  return EXIT.answered;
}

function textOf(pool: ConfigInput, file: string): string {
  const schema = relative(dirname(file), SCHEMA).replaceAll(sep, '/');
  return [
    `# yaml-language-server: $schema=${schema}`,
    '# Keys stay in the environment. Every setting is explained in docs/configuration.md of the package.',
    stringify({ ...pool, limits: { costUsd: 1, wallClock: '30m' } }, { lineWidth: 0 }),
  ].join('\n');
}
