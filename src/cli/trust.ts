import { realpath } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { VENDORS } from '../config/cards';
import { reasonOf } from '../reason-of';
import type { ConductorCard, ModelCard } from '../protocol/cards';
import { UsageError } from './exit-code';
import { keep, recall } from './memory';
import { say } from './terminal';

// A `conductor.yaml` may come with a stranger's folder, and it names both a variable and the server that is sent what is
// in it. So a key goes without a question only where it belongs; every other pair is trusted once for a folder, by a
// person, `--trust` or this variable: `NAME=https://server`, several with commas between them.
const VARIABLE = 'CONDUCTOR_TRUST';

type Card = Pick<ConductorCard | ModelCard, 'provider' | 'baseUrl' | 'apiKeyEnv'>;

/** The keys of this environment that would go where they do not belong, as `NAME=https://server`. */
export function foreignKeys(cards: readonly Card[], env: NodeJS.ProcessEnv): string[] {
  const pairs = cards.flatMap(({ provider, baseUrl, apiKeyEnv }) => {
    if (provider === 'local' || provider === 'policy' || !apiKeyEnv || !env[apiKeyEnv]) return [];
    const { origin } = new URL(baseUrl ?? VENDORS[provider].endpoint);
    return belongs(apiKeyEnv, origin) ? [] : [`${apiKeyEnv}=${origin}`];
  });
  return [...new Set(pairs)];
}

/** A vendor's variables begin as its own one does: `OPENAI_`, and for Google also `GOOGLE_`. */
function belongs(variable: string, origin: string): boolean {
  const vendor = Object.values(VENDORS).find(({ endpoint }) => endpoint === origin);
  if (vendor === undefined) return false;
  const names =
    vendor === VENDORS.google ? ['GEMINI_', 'GOOGLE_'] : [vendor.apiKeyEnv.replace(/API_KEY$/, '')];
  return names.some((name) => variable.startsWith(name));
}

/**
 * Lets a command go on only if every key goes where it belongs or where it is trusted to go.
 *
 * @param file the configuration, whose folder the trust is for
 * @throws UsageError that names the keys and what to do, where no one can be asked or the answer is no
 */
export async function requireTrust(cards: readonly Card[], file: string, isTrusted = false): Promise<void> {
  const pairs = foreignKeys(cards, process.env).filter((pair) => !granted().includes(pair));
  if (pairs.length === 0) return;
  const open = await untrustedKeys(cards, file);
  if (open.length > 0) {
    if (!isTrusted) await ask(open, file);
    const trusted = (await recall(TRUST)) ?? {};
    const folder = await realpath(dirname(file));
    await remember({ ...trusted, [folder]: [...(trusted[folder] ?? []), ...open] });
  }
  // For what this command does later, and for its worker.
  process.env[VARIABLE] = [...granted(), ...pairs].join(',');
}

/** Of `foreignKeys` those that neither this process nor the folder of the configuration is trusted with. */
export async function untrustedKeys(cards: readonly Card[], file: string): Promise<string[]> {
  const open = foreignKeys(cards, process.env).filter((pair) => !granted().includes(pair));
  if (open.length === 0) return [];
  const trusted = (await recall(TRUST)) ?? {};
  const folder = await realpath(dirname(file));
  return open.filter((pair) => !trusted[folder]?.includes(pair));
}

function granted(): string[] {
  const pairs = (process.env[VARIABLE] ?? '').split(',').map((pair) => pair.trim());
  return pairs.filter((pair) => pair !== '');
}

async function ask(pairs: readonly string[], file: string): Promise<void> {
  const errands = pairs.map((pair) => `  ${pair.replace('=', ' to ')}`).join('\n');
  const what = `${file} sends keys to servers that they do not belong to:\n${errands}`;
  if (process.stdin.isTTY && process.stderr.isTTY) {
    say(what);
    const { personAtTerminal } = await import('./approval/verdict.js');
    const person = personAtTerminal(new AbortController().signal);
    const answer = (await person.ask('Do you trust this folder with them, from now on? [y/N] ')) ?? '';
    if (/^y(es)?$/i.test(answer.trim())) return;
    throw new UsageError(
      'not trusted, so nothing was started: change the configuration, or its key variables',
    );
  }
  throw new UsageError(
    `${what}\nNothing was started. If that is meant, run the command once with --trust, which is remembered for this ` +
      `folder, or set ${VARIABLE}=${pairs.join(',')}`,
  );
}

/** Folders, and the pairs that each is trusted with. */
const trustSchema = z.record(z.string(), z.array(z.string()));
type Trusted = z.infer<typeof trustSchema>;

const TRUST = { file: 'trust.json', schema: trustSchema };

async function remember(trusted: Trusted): Promise<void> {
  try {
    await keep(TRUST, trusted);
  } catch (error) {
    say(
      `That this folder is trusted could not be remembered (${reasonOf(error)}): it will be asked for again.`,
    );
  }
}
