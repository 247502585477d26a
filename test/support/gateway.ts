import { Client } from '@temporalio/client';
import { ConductorClient } from '../../src/client';
import { readGivenConfig } from '../../src/config/load';
import { createKey, type KeySettings } from '../../src/gateway/access/keys';
import type { LineAbout } from '../../src/gateway/gateway';
import { startGateway } from '../../src/gateway/server';
import { settingsOf } from '../gateway/stage';
import type { Stage } from './stage';
import { useEach } from './use';

/** How a gateway answered a request, with a body in JSON. */
export interface GatewayAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
}

export interface TestGateway {
  readonly url: string;
  /** Key that requests use unless a test chooses another. */
  secret: string;
  /** Logged lines, which report what went wrong. */
  readonly said: string[];
  /** What each of those lines is about. */
  readonly about: LineAbout[];
  /** Creates a key, and returns its secret. */
  readonly key: (settings?: Partial<KeySettings>) => Promise<string>;
  /** Sends a request; a body that is neither a text nor a stream is sent as JSON. */
  ask(method: string, path: string, body?: unknown, given?: Given): Promise<GatewayAnswer>;
  readonly close: () => Promise<void>;
}

interface Given {
  /** @default the gateway's `secret` */
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** URL of Temporal's pages in links; nothing listens there. */
export const WORKFLOWS_PAGE = 'http://127.0.0.1:9/namespaces/default/workflows';

let made = 0;

/** Opens a gateway over HTTP for the stage's task queue, by default on a free port and with the stage's store. */
export async function openGateway(
  stage: Stage,
  port = 0,
  store = stage.store,
  conductor?: ConductorClient,
): Promise<TestGateway> {
  const { taskQueue } = stage;
  // Connects as the command does.
  const temporal = new Client({ connection: stage.temporal.nativeConnection });
  const config = readGivenConfig(stage.config);
  const said: string[] = [];
  const about: LineAbout[] = [];
  const listening = await startGateway(
    {
      conductor: conductor ?? new ConductorClient({ client: temporal, store, taskQueue }),
      temporal,
      config: { ...config, temporal: { ...config.temporal, taskQueue } },
      store,
      workflowsPage: WORKFLOWS_PAGE,
      say: (line, what) => {
        said.push(line);
        about.push(what);
      },
    },
    { port, host: '127.0.0.1', allowHosts: [] },
  );
  const key: TestGateway['key'] = async (settings = {}) => {
    made += 1;
    return (await createKey(store, settingsOf({ name: `key-${made}`, ...settings }))).secret;
  };
  const gateway: TestGateway = {
    url: listening.url,
    secret: await key(),
    said,
    about,
    key,
    async ask(method, path, body, { key: secret = gateway.secret, headers } = {}) {
      const isRaw = body === undefined || typeof body === 'string' || body instanceof ReadableStream;
      const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' };
      const response = await fetch(gateway.url + path, {
        method,
        headers: { authorization: `Bearer ${secret}`, ...type, ...headers },
        body: isRaw ? body : JSON.stringify(body),
        duplex: 'half',
      });
      const answer = (await response.json()) as Record<string, unknown>;
      return { status: response.status, headers: response.headers, body: answer };
    },
    close: listening.close,
  };
  return gateway;
}

/** Opens a new gateway for each test of a file. */
export function useGateway(stage: Stage): TestGateway {
  return useEach(() => openGateway(stage));
}
