import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkStore, openStore } from '../../src/store/open-store';
import type { Store } from '../../src';
import { HAS_POSTGRES, POSTGRES_PASSWORD, PostgresServer } from '../support/postgres-server';

const HELLO = Buffer.from('hello');

(HAS_POSTGRES ? describe : describe.skip)('a store in PostgreSQL', () => {
  let server: PostgresServer;
  let url: string;
  let schema: string;
  let store: Store;
  let schemas = 0;

  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  beforeEach(async () => {
    schema = `store_${(schemas += 1)}`;
    url = server.url({ schema });
    store = openStore(url, '/');
    await store.migrate?.();
  });
  afterAll(() => server.close());

  const sentenceOf = async (failing: Promise<unknown>): Promise<string> => {
    const failure: unknown = await failing.then(() => 'nothing failed', String);
    expect(failure).not.toContain(POSTGRES_PASSWORD);
    return String(failure);
  };

  /** Expects a read and a write to fail with this sentence. */
  const refuses = async (refused: Store, sentence: string | RegExp): Promise<void> => {
    expect(await sentenceOf(refused.read('texts/ab'))).toMatch(sentence);
    expect(await sentenceOf(refused.write('texts/ab', HELLO))).toMatch(sentence);
  };

  test('keeps a text of 32 MiB', async () => {
    const long = randomBytes(32 * 1024 * 1024);
    await store.write('texts/long', long);
    expect((await store.read('texts/long'))?.equals(long)).toBe(true);
    expect((await store.stat('texts/long'))?.bytes).toBe(long.length);
  });

  test('is isolated from other stores in the same database', async () => {
    await store.write('texts/ab', HELLO);
    const other = openStore(server.url({ schema: `${schema}_b` }), '/');
    await other.migrate?.();
    expect(await other.list('')).toEqual([]);
  });

  describe('has a schema', () => {
    beforeEach(async () => {
      await server.run(`DROP SCHEMA ${schema} CASCADE`);
      store = openStore(url, '/');
    });

    test('that is created once, by whichever process comes first', async () => {
      const made = await Promise.all([1, 2, 3, 4].map(async () => store.migrate?.()));
      expect(made.map((each) => each?.from).sort()).toEqual([1, 1, 1, null]);
      await store.write('texts/ab', HELLO);
      expect(await store.migrate?.()).toEqual({ from: 1, to: 1 });
      expect(await store.read('texts/ab')).toEqual(HELLO);
    });

    test('without which it is refused, until the schema exists', async () => {
      await refuses(store, /postgres:\/\/tests@.*has no schema yet: run "temporal-conductor store migrate"$/);
      await store.migrate?.();
      expect(await store.read('texts/ab')).toBeNull();
    });

    test('that another user may have created for it', async () => {
      await server.run(`DROP ROLE IF EXISTS guest; CREATE ROLE guest LOGIN PASSWORD 'guest'`);
      const guests = openStore(server.url({ user: 'guest:guest', schema }), '/');
      expect(await sentenceOf(guests.migrate?.() ?? Promise.resolve())).toMatch(
        /the user of postgres:\/\/guest@\S+ lacks a privilege \(permission denied for database postgres\): grant/,
      );
      await server.run(`CREATE SCHEMA ${schema} AUTHORIZATION guest`);
      expect(await guests.migrate?.()).toEqual({ from: null, to: 1 });
      expect(await guests.create('texts/ab', HELLO)).toBe(true);
    });

    test.each([
      [7, /was made by a newer version of temporal-conductor \(.*version 7, but .* knows 1\): update$/],
      [0, /an earlier version of temporal-conductor \(.*version 0.*run "temporal-conductor store migrate"$/],
    ])('of version %p, with which it is refused', async (version, sentence) => {
      await store.migrate?.();
      await server.run(`UPDATE ${schema}.version SET version = ${version}`);
      await refuses(store, sentence);
      if (version > 1) await expect(store.migrate?.()).rejects.toThrow(sentence);
    });
  });

  describe('is refused in one sentence that says what to do:', () => {
    test.each([
      [
        'a wrong password',
        { user: 'tests:wrong' },
        /the login to .* failed \(password auth\w+ failed.*set PGP/,
      ],
      ['no password', { user: 'tests' }, /the login to .* failed \(.*set PGPASSWORD or add the password to/],
      ['no such user', { user: 'nobody:x' }, /the login to .* failed \(.*"nobody"/],
      ['no such database', { database: 'elsewhere' }, /database "elsewhere" does not exist/],
      ['nothing there', { port: 9 }, /127\.0\.0\.1:9\S* cannot be reached \(.*ECONNREFUSED.*\): check host/],
    ])('%s', async (_, where, sentence) => {
      await refuses(openStore(server.url(where), '/'), sentence);
    });

    test('missing rights', async () => {
      await server.run(`DROP ROLE IF EXISTS reader; CREATE ROLE reader LOGIN PASSWORD 'reader'`);
      const readersUrl = server.url({ user: 'reader:reader', schema });
      const readers = openStore(readersUrl, '/');
      await refuses(
        readers,
        /lacks a privilege \(permission denied for schema \w+\): grant those listed in docs\/store.md/,
      );
      await server.run(`GRANT USAGE ON SCHEMA ${schema} TO reader;
        GRANT SELECT ON ALL TABLES IN SCHEMA ${schema} TO reader`);
      expect(await readers.read('texts/ab')).toBeNull();
      const lacking = /lacks a privilege \(it may not INSERT entries, UPDATE entries, .*\): grant/;
      expect(await sentenceOf(checkStore(readersUrl))).toMatch(lacking);
      const refused = readers.write('texts/ab', HELLO);
      expect(await sentenceOf(refused)).toMatch(/lacks a privilege \(.*for table entries\)/);
      await server.run(`GRANT INSERT, UPDATE, DELETE ON ${schema}.entries TO reader`);
      await readers.write('texts/ab', HELLO);
      await server.run(`GRANT INSERT, UPDATE ON ${schema}.rates TO reader`);
      await checkStore(readersUrl);
      expect(await readers.removeOlder('texts/ab', new Date(Date.now() + 60_000))).toBe(5);
    });

    test('no encryption, although it is required', async () => {
      const encrypted = openStore(`${url}&sslmode=require`, '/');
      await refuses(encrypted, /cannot open an encrypted connection to .*: check "sslmode"/);
    });

    test('the package is not installed', async () => {
      jest.doMock('pg', () => {
        throw new Error("Cannot find module 'pg'");
      });
      await expect(openStore(server.url({ schema: 'fresh' }), '/').read('texts/ab')).rejects.toThrow(
        /^a store in PostgreSQL needs a package: run "npm install pg@8"/,
      );
      jest.dontMock('pg');
    });
  });

  describe('and its server', () => {
    afterEach(async () => {
      await server.end();
      await server.begin();
    });

    const beginWithTls = async (...settings: string[]): Promise<string> => {
      const [certificate, key] = makeCertificate(server.folder);
      await server.end();
      await server.begin('ssl=on', `ssl_cert_file=${certificate}`, `ssl_key_file=${key}`, ...settings);
      return certificate;
    };

    test('that was down: a call fails, and the next one works once the server is back', async () => {
      await store.write('texts/ab', HELLO);
      await server.end('SIGQUIT');
      const rates = store.rates?.read('model') ?? Promise.resolve();
      expect(await sentenceOf(rates)).toContain('cannot be reached');
      await refuses(store, /cannot be reached \(.*\): check host and port in "store", the network, and that/);
      await server.begin();
      expect(await store.read('texts/ab')).toEqual(HELLO);
    });

    test('that ended during calls: each call fails or is done, and what is done persists', async () => {
      const keys = Array.from({ length: 40 }, (_, index) => `rows/${String(index).padStart(2, '0')}`);
      const writing = keys.map((key) => store.write(key, Buffer.alloc(1_000_000, key)).then(() => key));
      await Promise.race(writing);
      await server.end('SIGQUIT');
      const ended = await Promise.allSettled(writing);
      await server.begin();
      const done = ended.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
      expect(await store.list('rows/')).toEqual(expect.arrayContaining(done));
      for (const each of ended) {
        if (each.status === 'rejected') expect(String(each.reason)).toContain('cannot be reached (');
      }
    });

    test('that is read-only, like a standby: it can be read, and writes are refused', async () => {
      await store.write('texts/ab', HELLO);
      await server.end();
      await server.begin('default_transaction_read_only=on');
      expect(await store.read('texts/ab')).toEqual(HELLO);
      const refusals = [store.write('texts/ab', HELLO), checkStore(url)].map(sentenceOf);
      for (const sentence of await Promise.all(refusals)) {
        expect(sentence).toMatch(/is read-only, perhaps a standby: set "store" to the primary server/);
      }
    });

    test('that has a certificate, which is checked according to sslmode', async () => {
      const certificate = await beginWithTls();
      const withTls = (options: string): Store => openStore(`${url}&${options}`, '/');
      expect(await withTls('sslmode=require').read('texts/ab')).toBeNull();
      expect(await withTls(`sslmode=verify-full&sslrootcert=${certificate}`).read('texts/ab')).toBeNull();
      expect(await withTls(`sslrootcert=${certificate}`).read('texts/ab')).toBeNull();
      const unknown = /cannot open an encrypted connection to .* \(self-signed certificate\)/;
      await refuses(withTls('sslmode=verify-full'), unknown);
    });

    test('that asks for the password in the clear gets it only over TLS', async () => {
      const access = join(server.folder, 'access.conf');
      writeFileSync(access, 'host all all 127.0.0.1/32 password');
      await beginWithTls(`hba_file=${access}`);
      expect(await openStore(`${url}&sslmode=require`, '/').read('texts/ab')).toBeNull();
      await refuses(openStore(url, '/'), /asks for the password in the clear, and it was not sent: use TLS/);
    });
  });
});

/** Makes a self-signed certificate for 127.0.0.1. */
function makeCertificate(folder: string): [certificate: string, key: string] {
  const [certificate, key] = [join(folder, 'server.crt'), join(folder, 'server.key')];
  const name = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const files = ['-keyout', key, '-out', certificate];
  const options = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...name, ...files];
  execFileSync('openssl', options, { stdio: 'ignore' });
  if (process.getuid?.() === 0) chownSync(key, 65_534, 65_534);
  return [certificate, key];
}
