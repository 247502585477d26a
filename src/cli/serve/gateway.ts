import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { asPart, DRAIN_MS, GATEWAY_HOST, refuseTaken, type ServeOptions, watchConfig } from './serve';
import { type ExitCode, EXIT, listenForInterruption, untilInterrupted } from '../kit/ending';
import type { LineFacts } from '../kit/log-form';
import { loadSettings, type WorkOptions } from '../kit/load-settings';
import { type Session, withSession } from '../kit/session';
import { READY } from '../kit/supervise';
import { say } from '../kit/terminal';
import { codeOf, reasonOf } from '../../errors';
import type { Listening } from '../../network/listen';
import { makeOwnFolder, OWN_FOLDER } from '../../runtime/own-folder';
import { checkStore } from '../../store/open-store';
import { CONDUCTOR_MODEL } from '../../protocol/rights';
import type { Store } from '../../store/store';
import { createKey, createPass, KeyChecker, listKeys } from '../../gateway/access';
import { type Address, type ListeningGateway, PAGE_FOLDER, startGateway } from '../../gateway/server';

export const GATEWAY_PORT = 8484;

const SESSION = { role: 'look', service: 'gateway', natively: true } as const;

type GatewayCommand = WorkOptions &
  Pick<Address, 'port' | 'host'> & {
    readonly allowHost?: string[];
    readonly temporalUi?: string;
  };

/** `gateway`: serves clients of OpenAI and Anthropic in production; the server and workers run elsewhere. */
export async function gateway(options: GatewayCommand): Promise<ExitCode> {
  const interruption = listenForInterruption();
  const loaded = await loadSettings(options);
  await checkStore(loaded.store);
  return withSession(loaded, options, { ...SESSION, outliving: 'gateway' }, async (session) => {
    const place = { port: options.port, host: options.host, allowHosts: options.allowHost ?? [] };
    const listening = await serve(session, place, { temporalUi: options.temporalUi }).catch(
      (cause: unknown) => refuseTaken(place.port, cause),
    );
    say(await describeGateway(session, listening));
    say(READY);
    watchConfig(options, 'gateway');
    await untilInterrupted(interruption);
    await drain(listening);
    return EXIT.answered;
  });
}

/** `up-gateway`: runs the gateway of `up` until `up` asks it to stop or exits. */
export function upGateway(options: ServeOptions): Promise<ExitCode> {
  const beside = { workerMetrics: options.metrics };
  return asPart(options, SESSION, async (session, { port, sayReady, stop }) => {
    const place = { port: port ?? GATEWAY_PORT, host: GATEWAY_HOST, allowHosts: [] };
    const listening = await serve(session, place, beside).catch((error: unknown) => {
      // The port is usually taken by another folder's gateway; `up` does not depend on this port.
      if (codeOf(error) !== 'EADDRINUSE') throw error;
      say(`Port ${place.port} is taken, so the gateway listens on another one; choose it with "up --port".`);
      return serve(session, { ...place, port: 0 }, beside);
    });
    sayReady({ line: await describeGateway(session, listening), port: Number(new URL(listening.url).port) });
    await untilInterrupted(stop);
    await drain(listening);
  });
}

async function drain({ close }: ListeningGateway): Promise<void> {
  say(`Draining: requests under way have ${DRAIN_MS / 1000} s to be answered.`);
  await close(DRAIN_MS);
}

interface Beside {
  readonly temporalUi?: string | undefined;
  readonly workerMetrics?: string | undefined;
}

function serve(
  session: Session,
  address: Address,
  { temporalUi, workerMetrics }: Beside,
): Promise<ListeningGateway> {
  const { conductor, temporal, config, store, server } = session;
  const ui = temporalUi ?? server.uiAddress;
  const workflowsPage = ui === null ? undefined : `${ui}/namespaces/${server.namespace}/workflows`;
  const sayError = (line: string, about: LineFacts): void => {
    say(line, { level: 'ERROR', ...about });
  };
  const parts = { conductor, temporal, config, store, workflowsPage, workerMetrics, say: sayError };
  return startGateway(parts, address);
}

async function describeGateway({ store, server }: Session, { url }: Listening): Promise<string> {
  const serves = `Gateway     ${url}/v1 (OpenAI), ${url} (Anthropic)`;
  if (!server.embedded) {
    const hasKeys = (await listKeys(store)).some(({ revokedAt }) => revokedAt === null);
    const remedy = hasKeys ? [] : ['Key         none yet: temporal-conductor key create NAME'];
    return [serves, pageLine(url), ...remedy].join('\n');
  }
  const { key, secret } = await ownKey(store);
  const body = `{"model":"${CONDUCTOR_MODEL}","messages":[{"role":"user","content":"What is the capital of France?"}]}`;
  return [
    serves,
    // Browsers send the part after the `#` to no server, so it appears in no log.
    pageLine(`${url}/#link=${await createPass(store, 'link', key)} (signs in once)`),
    `Key         ${secret}`,
    `Try         curl ${url}/v1/chat/completions -H 'Authorization: Bearer ${secret}' -H 'Content-Type: application/json' -d '${body}'`,
  ].join('\n');
}

/** A clone has the page only once it is built; the package always has it. */
function pageLine(address: string): string {
  return `Page        ${existsSync(PAGE_FOLDER) ? address : 'not built yet: npm run build:web'}`;
}

const OWN_KEY = 'this-folder';

/** Returns an admin key of this folder's own gateway: whoever can read the folder can read all its answers anyway. */
async function ownKey(store: Store): ReturnType<typeof createKey> {
  makeOwnFolder(OWN_FOLDER);
  const file = join(OWN_FOLDER, 'gateway.key');
  const kept = await readFile(file, 'utf8').then(
    (text) => text.trim(),
    () => '',
  );
  const key = await new KeyChecker(store).check(kept);
  if (key !== null) return { key, secret: kept };
  const name = `${OWN_KEY}-${Date.now().toString(36)}`;
  const free = { models: null, usdPerDay: null, requestsPerMinute: null, expiresAt: null };
  const made = await createKey(store, { name, isAdmin: true, ...free });
  await writeFile(file, `${made.secret}\n`, { mode: 0o600 }).catch((error: unknown) => {
    say(
      `The gateway's key cannot be saved in ${file} (${reasonOf(error)}): the next start will make another one.`,
    );
  });
  return made;
}
