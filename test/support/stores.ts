import { mkdir, mkdtemp, readdir, rm, stat, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { EncryptedStore } from '../../src/store/encrypted-store';
import { openStore } from '../../src/store/open-store';
import type { Store } from '../../src';
import { keyRing } from '../encryption/test-keys';
import { HAS_POSTGRES, PostgresServer } from './postgres-server';
import { startS3Server } from './s3-server';

/** Source of a test's stores of one kind. */
export interface Stores {
  /** Folder with the stores' bytes on disk. */
  readonly folder: string;
  /** Opens a new, empty store. */
  open(): Promise<Store>;
  /** Makes everything in the stores older by that many hours. */
  age(hours: number): Promise<void>;
  readonly close: () => Promise<void>;
}

/** Every kind of store; all must pass the same tests. */
export const STORES: readonly (readonly [kind: string, stores: () => Promise<Stores>])[] = [
  ['sqlite:', sqliteStores],
  ['s3://', s3Stores],
  ...(HAS_POSTGRES ? [['postgres://', postgresStores] as const] : []),
];

/** Stores of each kind, wrapped so that their content is encrypted. */
export const ENCRYPTED_STORES: typeof STORES = STORES.map(([kind, stores]) => [
  `${kind}, encrypted`,
  () => encrypted(stores),
]);

async function encrypted(stores: () => Promise<Stores>): Promise<Stores> {
  const plain = await stores();
  return { ...plain, open: async () => new EncryptedStore(await plain.open(), keyRing('stores')) };
}

export async function sqliteStores(): Promise<Stores> {
  const folder = await mkdtemp(join(tmpdir(), 'stores-'));
  const stores = storesIn(folder, (name) => openStore(`sqlite:${name}.db`, folder));
  return {
    ...stores,
    age: async (hours) => {
      for (const path of (await filesIn(folder)).filter((each) => each.endsWith('.db'))) {
        ageStore(path, hours * 60 * 60 * 1000);
      }
    },
  };
}

/** Stores in one bucket of a real server, each below its own prefix. */
async function s3Stores(): Promise<Stores> {
  const folder = await mkdtemp(join(tmpdir(), 'stores-'));
  await mkdir(join(folder, 'bucket'));
  const server = await startS3Server(folder);
  Object.assign(process.env, server.env);
  return storesIn(folder, (name) => openStore(`s3://bucket/${name}`, folder), server.close);
}

/** Stores in one database of a real server, each in its own schema. */
async function postgresStores(): Promise<Stores> {
  const server = await PostgresServer.start();
  const urls: string[] = [];
  return {
    folder: server.folder,
    open: async () => {
      const url = server.url({ schema: `store_${urls.length}` });
      urls.push(url);
      const store = openStore(url, server.folder);
      await store.migrate?.();
      return store;
    },
    age: async (hours) => {
      const earlier = (schema: number): string =>
        `UPDATE store_${schema}.entries SET modified = modified - interval '${hours} hours'`;
      await server.run(urls.map((_, schema) => earlier(schema)).join(';'));
    },
    close: () => server.close(),
  };
}

function storesIn(
  folder: string,
  open: (name: string) => Store,
  stop: () => Promise<void> = () => Promise.resolve(),
): Stores {
  let opened = 0;
  return {
    folder,
    open: () => Promise.resolve(open(`store-${++opened}`)),
    age: async (hours) => {
      for (const path of await filesIn(folder)) {
        const earlier = new Date((await stat(path)).mtimeMs - hours * 60 * 60 * 1000);
        await utimes(path, earlier, earlier);
      }
    },
    close: async () => {
      await stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
}

/** Makes everything below a prefix of a SQLite store older by that many milliseconds. */
export function ageStore(path: string, byMs: number, prefix = ''): void {
  const database = new Database(path, { timeout: 30_000 });
  database.exec(`UPDATE entries SET modified = modified - ${byMs} WHERE key GLOB '${prefix}*'`);
  database.close();
}
