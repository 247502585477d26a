import { realpath } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { OWN_FOLDER } from '../../runtime/own-folder';
import { VENDORS } from '../../config/cards';
import { readStoreUrl } from '../../config/store-url';
import { reasonOf, UsageError } from '../../errors';
import type { CalledCard } from '../../protocol/cards';
import type { TemporalServer } from '../../local/configured-server';
import { claimDatabase, databasePath, keep, recall } from '../../local/own-database';
import { ask, isPersonHere, say } from './terminal';

// A stranger's `conductor.yaml` can name a variable and the server that receives its value. So a key is sent without
// asking only to its own vendor. Any other pair must be trusted, once per folder: at the prompt, by `--trust` or by
// this variable, a comma-separated list of `NAME=https://server`. A store is such a pair too: its server receives a
// password, or texts under an AWS account.
const VARIABLE = 'CONDUCTOR_TRUST';

type CardWithKey = Pick<CalledCard, 'provider' | 'baseUrl' | 'proxy' | 'apiKeyEnv'>;

/** Returns keys of this environment that would go to servers other than their vendor's, as `NAME=https://server`. */
export function foreignKeys(cards: readonly CardWithKey[], env: NodeJS.ProcessEnv): string[] {
  const pairs = cards.flatMap(({ provider, baseUrl, proxy, apiKeyEnv }) => {
    if (provider === 'local' || provider === 'policy' || !apiKeyEnv || !env[apiKeyEnv]) return [];
    const { origin, protocol } = new URL(baseUrl ?? VENDORS[provider].endpoint);
    // A proxy reads what is not encrypted.
    const reader =
      protocol === 'http:' && proxy !== undefined ? [`${apiKeyEnv}=${new URL(proxy).origin}`] : [];
    return belongs(apiKeyEnv, origin) ? reader : [`${apiKeyEnv}=${origin}`, ...reader];
  });
  return [...new Set(pairs)];
}

/** Returns whether a variable has the prefix of the origin's vendor: `OPENAI_`, and for Google also `GOOGLE_`. */
function belongs(variable: string, origin: string): boolean {
  const vendor = Object.values(VENDORS).find(({ endpoint }) => endpoint === origin);
  if (vendor === undefined) return false;
  const names =
    vendor === VENDORS.google ? ['GEMINI_', 'GOOGLE_'] : [vendor.apiKeyEnv.replace(/API_KEY$/, '')];
  return names.some((name) => variable.startsWith(name));
}

/** Returns this user's credentials that open a store, as `NAME=store`; none if its URL has a password. */
export function foreignStore(url: string): string[] {
  const place = readStoreUrl(url);
  if (place?.kind === 's3') return [`AWS=s3://${place.bucket}`];
  return place?.kind === 'postgres' && !place.bringsPassword ? [`PGPASSWORD=${place.server}`] : [];
}

/** Requires trust in these pairs for the configuration's folder, and asks if need be. @throws UsageError if refused */
export async function requireTrust(
  foreign: readonly string[],
  file: string,
  isTrusted = false,
): Promise<void> {
  const open = await untrusted(foreign, file);
  if (open.length > 0) {
    if (!isTrusted) {
      const errands = open.map((pair) => `  ${errandOf(pair, 'to')}`).join('\n');
      await askPerson(
        `${file} would give what is yours to these servers and programs:\n${errands}`,
        'Do you trust this folder with them, from now on?',
        'change the configuration, or its key variables',
        open,
      );
    }
    await remember(open, file);
  }
  // Covers later steps of this command, and its worker.
  grant(foreign);
}

/** Returns the pairs that neither this process nor the configuration's folder is trusted with. */
export async function untrusted(pairs: readonly string[], file: string): Promise<string[]> {
  const open = pairs.filter((pair) => !granted().includes(pair));
  if (open.length === 0) return [];
  const trusted = (await recall(TRUST)) ?? {};
  const folder = await realpath(dirname(file));
  return open.filter((pair) => !trusted[folder]?.includes(pair));
}

/** Returns the pairs that this process and its children are trusted with. */
function granted(): string[] {
  return (process.env[VARIABLE] ?? '')
    .split(',')
    .map((pair) => pair.trim())
    .filter(Boolean);
}

export function errandOf(pair: string, verb: string): string {
  const [, name = '', place = ''] = /^([^=]*)=(.*)$/s.exec(pair) ?? [];
  return `${CREDENTIALS[name] ?? name} ${verb} ${place}`;
}

const CREDENTIALS: Readonly<Record<string, string>> = {
  PGPASSWORD: 'PGPASSWORD, or what ~/.pgpass has,',
  AWS: 'your AWS credentials',
  PROGRAM: 'your rights on this machine',
  TOOLS: 'what your runs ask of tools',
};

function grant(pairs: readonly string[]): void {
  process.env[VARIABLE] = [...new Set([...granted(), ...pairs])].join(',');
}

/** @throws UsageError if the answer is no, or if there is no terminal to ask at */
async function askPerson(doubt: string, question: string, remedy: string, pairs: readonly string[]) {
  if (isPersonHere()) {
    say(doubt);
    const answer = (await ask(`${question} [y/N] `)) ?? '';
    if (/^y(es)?$/i.test(answer.trim())) return;
    throw new UsageError(`not trusted, so nothing was started: ${remedy}`);
  }
  throw new UsageError(
    `${doubt}\nNothing was started. If that is intended, run the command once with --trust, which is remembered for this ` +
      `folder, or set ${VARIABLE}=${pairs.join(',')}`,
  );
}

/** Trusted pairs by folder. */
const TRUST = { file: 'trust.json', schema: z.record(z.string(), z.array(z.string())) };

async function remember(pairs: readonly string[], file: string): Promise<void> {
  const trusted = (await recall(TRUST)) ?? {};
  const folder = await realpath(dirname(file));
  const kept = keep(TRUST, { ...trusted, [folder]: [...(trusted[folder] ?? []), ...pairs] });
  await kept.catch((error: unknown) => {
    say(`Could not save your trust in this folder (${reasonOf(error)}): you will be asked again.`);
  });
}

/** Allows a worker on the embedded server if its runs are this user's, or trusted. @throws UsageError if not */
export async function requireOwnRuns({ isOwn }: TemporalServer, isTrusted = false): Promise<void> {
  const folder = resolve(OWN_FOLDER);
  const pair = `RUNS=${folder}`;
  if (granted().includes(pair)) return;
  if (!isOwn && !isTrusted) {
    await askPerson(
      `${databasePath(folder)} was not made by you on this machine. What is scheduled there, and its open runs ` +
        '("temporal-conductor list" shows them), would go on with your keys, within limits that others may have set. ' +
        `To start without them, remove ${folder}.`,
      'Do you trust this folder with that, from now on?',
      `remove ${folder}`,
      [pair],
    );
  }
  if (!isOwn) await claimDatabase(folder, say);
  // The worker of `up` inherits this even if nothing could be remembered.
  grant([pair]);
}
