import { startCodecServer } from '../../gateway/codec-server';
import { withoutPassword } from '../../config/store-url';
import { configuredKeys } from '../../encryption/key-ring';
import { configuredNamespace } from '../../local/configured-server';
import { configuredStore } from '../../store/open-store';
import { EXIT, type ExitCode, listenForInterruption, untilInterrupted } from '../kit/ending';
import { UsageError } from '../../errors';
import { loadSettings, type WorkOptions } from '../kit/load-settings';
import { say } from '../kit/terminal';

interface CodecServerOptions extends WorkOptions {
  readonly host: string;
  readonly port: number;
  readonly origin: readonly string[];
}

const TOKEN = 'CONDUCTOR_CODEC_TOKEN';
const NO_TOKEN = `none: anyone on this machine may ask; ${TOKEN} sets one`;
const TOKEN_CHARACTERS = 16;
const LOOPBACK = ['127.0.0.1', '::1', 'localhost'];

/** `codec-server`: decrypts payloads for Temporal's UI and command line. */
export async function codecServer(options: CodecServerOptions): Promise<ExitCode> {
  const interruption = listenForInterruption();
  const { host, port, origin: origins } = options;
  const config = await loadSettings(options);
  const keys = configuredKeys(config);
  if (keys === undefined) {
    const remedy =
      'write "encryption: { keyEnv: CONDUCTOR_KEYS }" into it, and put the keys into that variable';
    throw new UsageError(`the configuration names no keys to decrypt with: ${remedy}`);
  }
  const token = readToken(host);
  const namespace = configuredNamespace() ?? config.temporal.namespace;
  const store = configuredStore(config);
  const server = await startCodecServer({ host, port, origins, token, namespace, keys, store, say });
  try {
    const [first, ...others] = keys.all.map(({ id }) => id);
    say(`Codec server  ${server.url}, namespace ${namespace}`);
    say(`Keys          ${[`${String(first)} (encrypts)`, ...others].join(', ')}`);
    say(`Store         ${withoutPassword(config.store)}`);
    say(`Pages         ${origins.join(', ')}`);
    say(`Token         ${token === null ? NO_TOKEN : TOKEN}`);
    say(`Ready. Enter ${server.url} as codec endpoint in Temporal's page. Press Ctrl-C to stop.`);
    await untilInterrupted(interruption);
    return EXIT.answered;
  } finally {
    await server.close();
  }
}

/** Returns the token, or null if none is set and only this machine can connect. @throws UsageError if one is needed */
function readToken(host: string): string | null {
  const token = process.env[TOKEN] ?? '';
  if (token.length >= TOKEN_CHARACTERS) return token;
  if (token !== '') {
    const what = `${TOKEN} is shorter than ${TOKEN_CHARACTERS} characters`;
    throw new UsageError(`${what}: take a longer one, e.g. of "openssl rand -hex 16"`);
  }
  if (LOOPBACK.includes(host)) return null;
  const remedy = `put a token into ${TOKEN}, or listen on 127.0.0.1`;
  throw new UsageError(`on ${host} other machines would get in: ${remedy}`);
}
