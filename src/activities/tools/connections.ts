import type * as Sdk from '@modelcontextprotocol/client' with { 'resolution-mode': 'import' };
import type { z } from 'zod';
import { ConfigError, MissingKeyError } from '../../config/errors';
import type { Config } from '../../config/schema';
import type { ServerConfig } from '../../config/tools';
import { codeOf, reasonOf } from '../../errors';
import { readVersion } from '../../runtime/version';
import { causesOf } from '../models/diagnose';
import { redact } from '../models/redact';
import { boundedFetch, resumeLater } from './bounded-fetch';
import { ProgramTransport } from './program-transport';

/** Time after its last call for which a connection stays open. */
const IDLE_MS = 5 * 60 * 1000;
const CONNECT_MS = 30_000;

/** What calls use of a connection. The protocol's package is optional, so its types must not stand in our declarations. */
export interface ToolClient {
  request<Schema extends z.ZodType>(
    asked: { readonly method: string; readonly params?: Record<string, unknown> },
    schema: Schema,
    options?: { readonly signal?: AbortSignal; readonly timeout?: number; readonly maxTotalTimeout?: number },
  ): Promise<z.output<Schema>>;
}

/** Connection to a server, shared by the calls of this process. */
interface Connection {
  readonly client: Promise<Sdk.Client>;
  /** Why it ended, if its server is the reason. The client knows only that it did. */
  readonly end: { why?: string };
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

  /**
   * Lends a connection. One over which a request had no answer, or that its server ended, is not lent again: it closes,
   * with whatever still arrives over it, once its last user is gone.
   */
  async use<T>(entry: string, work: (client: ToolClient) => Promise<T>): Promise<T> {
    const connection = this.open.get(entry) ?? this.connect(entry);
    clearTimeout(connection.idle);
    connection.users += 1;
    try {
      return await work(await connection.client);
    } catch (error) {
      if (!isAnswer(error)) this.forget(entry, connection);
      const { why } = connection.end;
      throw why === undefined || isAnswer(error) ? error : new Error(why, { cause: error });
    } finally {
      connection.users -= 1;
      if (connection.users === 0) this.leave(entry, connection);
    }
  }

  async closeIdle(): Promise<void> {
    const idle = [...this.open].filter(([, { users }]) => users === 0);
    await Promise.all(idle.map(([entry, connection]) => this.drop(entry, connection)));
  }

  /** Returns what an error of a server says: one line that may be told and kept, without the entry's secrets. */
  reasonFrom(entry: string, error: unknown): string {
    const secrets = this.secretsOf(entry);
    return redact(
      secrets.reduce((rest, secret) => rest.replaceAll(secret, '[secret]'), reasonOf(error)),
      null,
    );
  }

  private secretsOf(entry: string): string[] {
    const server = this.config.tools[entry];
    if (server === undefined || !('mcp' in server)) return [];
    const { mcp } = server;
    const names = 'url' in mcp ? Object.values(mcp.headersEnv) : mcp.env;
    return names.flatMap((name) => this.env[name] ?? []).filter((value) => value !== '');
  }

  private connect(entry: string): Connection {
    const end: Connection['end'] = {};
    const connection: Connection = { client: this.dial(entry, end), end, users: 0 };
    this.open.set(entry, connection);
    const forget = (): void => {
      this.forget(entry, connection);
    };
    connection.client.then((client) => {
      client.onclose = forget;
    }, forget);
    return connection;
  }

  private forget(entry: string, connection: Connection): void {
    if (this.open.get(entry) === connection) this.open.delete(entry);
  }

  private leave(entry: string, connection: Connection): void {
    const drop = (): void => void this.drop(entry, connection);
    if (this.open.get(entry) === connection) connection.idle = setTimeout(drop, IDLE_MS).unref();
    else drop();
  }

  private async drop(entry: string, connection: Connection): Promise<void> {
    clearTimeout(connection.idle);
    this.forget(entry, connection);
    await connection.client.then((client) => client.close()).catch(() => undefined);
  }

  private async dial(entry: string, end: Connection['end']): Promise<Sdk.Client> {
    const { Client, StreamableHTTPClientTransport } = await importSdk();
    const client = new Client({ name: 'temporal-conductor', version: readVersion() });
    const onEnd = (why: string): void => {
      end.why ??= why;
      void client.close();
    };
    const { mcp } = this.serverOf(entry);
    let transport: Sdk.Transport;
    if ('url' in mcp) {
      const headers = Object.entries(mcp.headersEnv).map(([header, name]) => [
        header,
        this.read(entry, name),
      ]);
      const url = new URL(mcp.url);
      transport = new StreamableHTTPClientTransport(url, {
        requestInit: { headers: Object.fromEntries(headers) as Record<string, string> },
        fetch: boundedFetch(url.origin, onEnd),
        reconnectionScheduler: resumeLater,
      });
    } else {
      const env = Object.fromEntries(mcp.env.map((name) => [name, this.read(entry, name)]));
      transport = new ProgramTransport(mcp.command, env, onEnd);
    }
    try {
      await client.connect(transport, { timeout: CONNECT_MS });
    } catch (error) {
      await transport.close();
      if (codeOf(error) !== 'REQUEST_TIMEOUT') throw error;
      throw new Error(`it did not answer within ${CONNECT_MS / 1000} s`, { cause: error });
    }
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

/** Whether a connection that failed would fail again: the configuration is wrong, or the server answers, or not in time. */
export function isLasting(error: unknown): boolean {
  const codes = causesOf(error).map(codeOf);
  return error instanceof ConfigError || isAnswer(error) || codes.some((code) => LASTING.has(code));
}

const LASTING: ReadonlySet<unknown> = new Set(['ENOENT', 'REQUEST_TIMEOUT']);

/** Whether a server answered a request with an error: its codes are numbers, the client's own are words. */
function isAnswer(error: unknown): boolean {
  return typeof codeOf(error) === 'number';
}
