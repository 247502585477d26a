import { startCodecServer } from '../../codec-server/server';
import type { TrainableConfig } from '../../training/config/schema';
import { configuredKeys, type KeyRing } from '../../encryption/keys';
import { configuredNamespace } from '../../local/configured-server';
import { openStore } from '../../store/open-store';
import { type AddCommands, CONFIG, readOrigin, readPort } from '../arguments';
import { EXIT, type ExitCode, UsageError } from '../exit-code';
import { listenForInterruption, unlessInterrupted } from '../interruption';
import { loadSettings } from '../settings';
import { say } from '../terminal';

interface CodecServerOptions {
  readonly config?: string;
  readonly host: string;
  readonly port: number;
  /** Of the pages that may ask. */
  readonly origin: readonly string[];
}

/** `codec-server`: decrypts for Temporal's page and command line. */
export const addCodecServer: AddCommands = (program, settle) => {
  program
    .command('codec-server')
    .description("let Temporal's page and command line show what is encrypted, until Ctrl-C")
    .requiredOption('--origin <url...>', 'of the pages that may ask, e.g. http://127.0.0.1:8233', readOrigin)
    .option('--port <number>', 'where to listen', readPort, 8081)
    .option(
      '--host <address>',
      'other machines get in only with a token in CONDUCTOR_CODEC_TOKEN',
      '127.0.0.1',
    )
    .option(...CONFIG)
    .action(async (options: CodecServerOptions) => {
      settle(await codecServer(options));
    });
};

const TOKEN = 'CONDUCTOR_CODEC_TOKEN';
const TOKEN_CHARACTERS = 16;
const LOOPBACK = new Set(['127.0.0.1', '::1', 'localhost']);

async function codecServer({ config: file, host, port, origin }: CodecServerOptions): Promise<ExitCode> {
  const interruption = listenForInterruption();
  const config = await loadSettings(file);
  const keys = keysOf(config);
  const token = readToken(host);
  const namespace = configuredNamespace() ?? config.temporal.namespace;
  const store = openStore(config.store, process.cwd(), { keys });
  const admission = { origins: origin, token, namespace };
  const server = await startCodecServer({ host, port, ...admission, keys, store, say });
  try {
    const [first, ...others] = keys.all.map(({ id }) => id);
    say(`Codec server  ${server.url}, namespace ${namespace}`);
    say(`Keys          ${[`${String(first)} (encrypts)`, ...others].join(', ')}`);
    say(`Store         ${config.store}`);
    say(`Pages         ${origin.join(', ')}`);
    say(
      `Token         ${token === null ? `none: anyone on this machine may ask; ${TOKEN} sets one` : TOKEN}`,
    );
    say(`Ready. Enter ${server.url} as codec endpoint in Temporal's page. Press Ctrl-C to stop.`);
    await unlessInterrupted(interruption, new Promise<never>(() => undefined));
    return EXIT.answered;
  } finally {
    await server.close();
  }
}

function keysOf(config: TrainableConfig): KeyRing {
  const keys = configuredKeys(config);
  if (keys !== undefined) return keys;
  throw new UsageError(
    'there is nothing to decrypt with: write "encryption: { keyEnv: CONDUCTOR_KEYS }" into the configuration, ' +
      'and put the keys into that variable',
  );
}

/** The token that readers must show; null for none, where only this machine gets in. */
function readToken(host: string): string | null {
  const token = process.env[TOKEN] ?? '';
  if (token.length >= TOKEN_CHARACTERS) return token;
  if (token !== '') {
    throw new UsageError(
      `${TOKEN} is shorter than ${TOKEN_CHARACTERS} characters: take a longer one, e.g. of "openssl rand -hex 16"`,
    );
  }
  if (LOOPBACK.has(host)) return null;
  throw new UsageError(
    `on ${host} other machines would get in: put a token into ${TOKEN}, or listen on 127.0.0.1`,
  );
}
