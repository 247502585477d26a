import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { closedPort } from './closed-port';

/** Folder of the newest PostgreSQL version's programs on Debian, or null. */
const PROGRAMS = programsIn('/usr/lib/postgresql');

export const HAS_POSTGRES = PROGRAMS !== null;
if (!HAS_POSTGRES) {
  console.warn(
    'The store in PostgreSQL is not tested: there is no server in /usr/lib/postgresql ("apt-get install postgresql").',
  );
}

/** Password of the tests' user; searches for leaked secrets look for it. */
export const POSTGRES_PASSWORD = 'postgres-secret-5d01c7a9';

/** User that runs the server, which refuses to run as root. */
const USER = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/** A PostgreSQL server with its own database, whose collation is English. */
export class PostgresServer {
  private server: ChildProcess | undefined;

  private constructor(
    readonly folder: string,
    private readonly port: number,
  ) {}

  static async start(): Promise<PostgresServer> {
    const folder = await mkdtemp(join(tmpdir(), 'postgres-'));
    const password = join(folder, 'password');
    await writeFile(password, POSTGRES_PASSWORD);
    for (const path of [folder, password]) await chown(path, USER.uid ?? -1, USER.gid ?? -1);
    const server = new PostgresServer(folder, await closedPort());
    const access = ['--username=tests', '--auth=scram-sha-256', `--pwfile=${password}`];
    const order = ['--encoding=UTF8', '--locale=C', '--locale-provider=icu', '--icu-locale=en'];
    const options = [...access, ...order, '--no-sync', server.data];
    await promisify(execFile)(programOf('initdb'), options, { ...USER, cwd: folder });
    await server.begin();
    return server;
  }

  private get data(): string {
    return join(this.folder, 'data');
  }

  /** Starts the server, for the first time or again. */
  async begin(...settings: readonly string[]): Promise<void> {
    const own = ['listen_addresses=127.0.0.1', `port=${this.port}`, `unix_socket_directories=${this.folder}`];
    const options = [...own, 'fsync=off', ...settings].flatMap((setting) => ['-c', setting]);
    const server = spawn(programOf('postgres'), ['-D', this.data, ...options], {
      ...USER,
      cwd: this.folder,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.server = server;
    for await (const line of createInterface({ input: server.stderr })) {
      if (!line.includes('ready to accept')) continue;
      server.stderr.resume();
      return;
    }
    throw new Error('PostgreSQL ended before it served');
  }

  /** Stops the server: SIGINT is a fast shutdown, SIGQUIT an immediate one without clean-up. */
  async end(signal: 'SIGINT' | 'SIGQUIT' = 'SIGINT'): Promise<void> {
    const { server } = this;
    if (server?.exitCode !== null || !server.kill(signal)) return;
    await once(server, 'exit');
  }

  /** Returns the URL of a store. */
  url({
    user = `tests:${POSTGRES_PASSWORD}`,
    database = 'postgres',
    port = this.port,
    schema = '',
  } = {}): string {
    return `postgres://${user}@127.0.0.1:${port}/${database}${schema && `?schema=${schema}`}`;
  }

  /** Runs statements as the superuser. */
  async run(sql: string): Promise<unknown[]> {
    const client = new Client(this.url());
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(sql)).rows;
    } finally {
      await client.end();
    }
  }

  /** Returns a copy of the database as statements, as `pg_dump` makes it beside whoever works there. */
  async dump(): Promise<string> {
    const { stdout } = await promisify(execFile)(programOf('pg_dump'), [this.url()], {
      maxBuffer: 100_000_000,
    });
    return stdout;
  }

  /** Runs the statements of a copy in the empty database. */
  async restore(dump: string): Promise<void> {
    const options = ['--quiet', '--set', 'ON_ERROR_STOP=1', this.url()];
    const restoring = promisify(execFile)(programOf('psql'), options);
    restoring.child.stdin?.end(dump);
    await restoring;
  }

  async close(): Promise<void> {
    await this.end();
    await rm(this.folder, { recursive: true, force: true });
  }
}

function programsIn(folder: string): string | null {
  const versions = existsSync(folder) ? readdirSync(folder).map(Number) : [];
  const newest = Math.max(...versions.filter((version) => version >= 15));
  const programs = join(folder, String(newest), 'bin');
  return existsSync(join(programs, 'postgres')) ? programs : null;
}

function programOf(name: string): string {
  return join(PROGRAMS ?? '', name);
}

const SSL_REQUEST = 80877103;

/** A server that speaks just enough of PostgreSQL's protocol to ask for a password in clear text. */
export interface GreedyPostgres {
  /** Address as `HOST:PORT`. */
  readonly at: string;
  connections: number;
  /** Everything received after it asked for the password, as text. */
  heard: string;
  close(): Promise<void>;
}

export async function startGreedyPostgres(): Promise<GreedyPostgres> {
  const server = createServer((socket) => {
    greedy.connections += 1;
    socket.on('error', () => undefined);
    let asked = false;
    socket.on('data', (bytes) => {
      if (asked) {
        greedy.heard += bytes.toString('latin1');
        socket.end();
      } else if (bytes.length >= 8 && bytes.readInt32BE(4) === SSL_REQUEST) socket.write('N');
      else {
        asked = true;
        // AuthenticationCleartextPassword.
        socket.write(Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3]));
      }
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const greedy: GreedyPostgres = {
    at: `127.0.0.1:${port}`,
    connections: 0,
    heard: '',
    close: async () => {
      server.close();
      await once(server, 'close');
    },
  };
  return greedy;
}
