import type * as Sdk from '@modelcontextprotocol/client' with { 'resolution-mode': 'import' };
import { ConfigError, MissingKeyError } from '../../config/errors';
import type { Config } from '../../config/schema';
import type { ServerConfig } from '../../config/tools';
import { reasonOf } from '../../errors';
import { openFetch } from '../../network/fetch';
import { readVersion } from '../../runtime/version';

/** Bytes of one HTTP response, streams included. Results are cut far below that. */
const MAX_RESPONSE_BYTES = 8 * 1024 * 1024;
/** Time after its last call for which a connection stays open. */
const IDLE_MS = 5 * 60 * 1000;
const CONNECT_MS = 30_000;

/** Connection to a server, shared by the calls of this process. */
interface Connection {
  readonly client: Promise<Sdk.Client>;
  users: number;
  idle?: NodeJS.Timeout;
}

/** Connections of a worker process to the servers in its configuration. None is opened before its first call. */
export class ToolConnections {
  private readonly open = new Map<string, Connection>();

  constructor(
    private readonly config: Pick<Config, 'tools'>,
    private readonly env: NodeJS.ProcessEnv,
  ) {}

  /** Returns the server of an entry. @throws ConfigError if this process has no such entry */
  serverOf(entry: string): ServerConfig {
    const server = this.config.tools[entry];
    if (server !== undefined && 'mcp' in server) return server;
    throw new ConfigError(
      `"tools:" in this worker process's configuration has no server ${entry}: give all worker processes the same configuration`,
    );
  }

  /** Lends a connection. One that fails, or is closed by the server, is not lent again. */
  async use<T>(entry: string, work: (client: Sdk.Client) => Promise<T>): Promise<T> {
    const connection = this.open.get(entry) ?? this.connect(entry);
    clearTimeout(connection.idle);
    connection.users += 1;
    try {
      return await work(await connection.client);
    } finally {
      connection.users -= 1;
      if (connection.users === 0 && this.open.get(entry) === connection) {
        connection.idle = setTimeout(() => void this.drop(entry, connection), IDLE_MS).unref();
      }
    }
  }

  async closeIdle(): Promise<void> {
    const idle = [...this.open].filter(([, { users }]) => users === 0);
    await Promise.all(idle.map(([entry, connection]) => this.drop(entry, connection)));
  }

  /** Returns the secrets of an entry, which no message may repeat. */
  secretsOf(entry: string): string[] {
    const { mcp } = this.serverOf(entry);
    const names = 'url' in mcp ? Object.values(mcp.headersEnv) : mcp.env;
    return names.flatMap((name) => this.env[name] ?? []).filter((value) => value !== '');
  }

  private connect(entry: string): Connection {
    const connection: Connection = { client: this.dial(entry), users: 0 };
    this.open.set(entry, connection);
    const forget = (): void => {
      if (this.open.get(entry) === connection) this.open.delete(entry);
    };
    connection.client.then((client) => {
      client.onclose = forget;
    }, forget);
    return connection;
  }

  private async drop(entry: string, connection: Connection): Promise<void> {
    clearTimeout(connection.idle);
    if (this.open.get(entry) === connection) this.open.delete(entry);
    await connection.client.then((client) => client.close()).catch(() => undefined);
  }

  private async dial(entry: string): Promise<Sdk.Client> {
    const { mcp } = this.serverOf(entry);
    const { Client, StreamableHTTPClientTransport } = await importSdk();
    const client = new Client({ name: 'temporal-conductor', version: readVersion() });
    if ('url' in mcp) {
      const headers = Object.entries(mcp.headersEnv).map(([header, name]) => [
        header,
        this.read(entry, name),
      ]);
      const url = new URL(mcp.url);
      const transport = new StreamableHTTPClientTransport(url, {
        requestInit: { headers: Object.fromEntries(headers) as Record<string, string> },
        fetch: boundedFetch(url.origin),
      });
      await client.connect(transport, { timeout: CONNECT_MS });
      return client;
    }
    const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
    const [command = '', ...args] = mcp.command;
    const env = Object.fromEntries(mcp.env.map((name) => [name, this.read(entry, name)]));
    const transport = new StdioClientTransport({ command, args, env, stderr: 'ignore' });
    await client.connect(transport, { timeout: CONNECT_MS });
    return client;
  }

  private read(entry: string, name: string): string {
    const value = this.env[name] ?? '';
    if (value !== '') return value;
    throw new MissingKeyError(
      `${name} is not set, and the tools of ${entry} need it: set it where this worker is started, and start again`,
    );
  }
}

async function importSdk(): Promise<typeof Sdk> {
  try {
    return await import('@modelcontextprotocol/client');
  } catch (error) {
    const reason = `the client for tool servers, @modelcontextprotocol/client, cannot be loaded (${reasonOf(error)})`;
    throw new ConfigError(`${reason}: "npm install @modelcontextprotocol/client@2" installs it`, {
      cause: error,
    });
  }
}

/**
 * Returns a `fetch` for one server: to its own origin alone, without following redirects, through the proxies of the
 * environment. A response that is longer than any result breaks off.
 */
function boundedFetch(origin: string) {
  return async (input: string | URL, init?: RequestInit): Promise<Response> => {
    if (new URL(input).origin !== origin)
      throw new Error(`a request to another address than ${origin} was refused`);
    const send = await openFetch();
    const response = await send(input, { ...init, redirect: 'manual' });
    if (response.status >= 300 && response.status < 400) {
      await response.body?.cancel();
      throw new Error(
        `${origin} redirects, and redirects are not followed: put the final address into "url"`,
      );
    }
    const { body, status, statusText, headers } = response;
    if (body === null) return response;
    let bytes = 0;
    const count = new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => {
        bytes += chunk.byteLength;
        if (bytes > MAX_RESPONSE_BYTES) controller.error(new Error(TOO_LONG));
        else controller.enqueue(chunk);
      },
    });
    return new Response(body.pipeThrough(count), { status, statusText, headers });
  };
}

const TOO_LONG = `the server sent more than ${MAX_RESPONSE_BYTES / 1024 / 1024} MiB in one response`;
