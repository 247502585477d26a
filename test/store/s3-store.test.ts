import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import { EventEmitter, once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { openStore } from '../../src/store/open-store';
import { explainS3 } from '../../src/store/s3-store';
import type { Store } from '../../src';
import { freshFolder } from '../local/fresh-folder';
import { S3_SECRET, startS3Server, type S3Server } from '../support/s3-server';
import { serve } from '../support/serve';

/** Settings that keep this machine's own AWS configuration out of the tests. */
const ALONE = {
  AWS_CONFIG_FILE: '/nowhere/config',
  AWS_SHARED_CREDENTIALS_FILE: '/nowhere/credentials',
  AWS_EC2_METADATA_DISABLED: 'true',
};

const OUTSIDE = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('AWS_')));

function openWith(env: NodeJS.ProcessEnv, url = 's3://bucket/prefix'): Store {
  process.env = { ...OUTSIDE, ...ALONE, ...env };
  return openStore(url, '/');
}

interface Lossy {
  readonly env: NodeJS.ProcessEnv;
  /** Paths of the PUTs received. */
  readonly puts: readonly string[];
  readonly close: () => Promise<void>;
}

/**
 * Starts a proxy before a server. It forwards the first PUT and drops the connection instead of answering; given a
 * status, it answers that PUT with the status and forwards nothing.
 */
async function startLossy(env: NodeJS.ProcessEnv, meanwhile: () => unknown, status?: number): Promise<Lossy> {
  const { hostname, port } = new URL(env.AWS_ENDPOINT_URL_S3 ?? '');
  const puts: string[] = [];
  const pass = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const { method, url = '', headers } = incoming;
    const isFirst = method === 'PUT' && puts.push(url) === 1;
    if (isFirst && status !== undefined) {
      await meanwhile();
      incoming.resume().on('end', () => outgoing.writeHead(status).end());
      return;
    }
    const onwards = incoming.pipe(request({ hostname, port, method, path: url, headers }));
    const [answer] = (await once(onwards, 'response')) as [IncomingMessage];
    if (isFirst) {
      outgoing.destroy();
      return;
    }
    outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
    answer.pipe(outgoing);
  };
  const { url, close } = await serve((incoming, outgoing) => void pass(incoming, outgoing));
  return { env: { ...env, AWS_ENDPOINT_URL_S3: url }, puts, close };
}

describe('S3Store', () => {
  let folder: string;
  let server: S3Server;

  beforeAll(async () => {
    folder = await freshFolder();
    await mkdir(join(folder, 'bucket'));
    server = await startS3Server(folder);
  });
  afterAll(() => server.close());

  test('keeps to its prefix, so that a bucket can hold several stores', async () => {
    const [one, other, whole] = ['s3://bucket/one', 's3://bucket/one-more', 's3://bucket'].map((url) =>
      openWith(server.env, url),
    );
    await one?.write('texts/a', Buffer.from('x'));
    expect(await other?.list('texts/')).toEqual([]);
    expect(await whole?.list('one/')).toEqual(['one/texts/a']);
  });

  test('needs no host name per bucket at a custom endpoint', async () => {
    // For an IP address the SDK puts the bucket into the path in any case.
    const endpoint = server.env.AWS_ENDPOINT_URL_S3?.replace('127.0.0.1', 'localhost');
    for (const name of ['AWS_ENDPOINT_URL_S3', 'AWS_ENDPOINT_URL']) {
      const store = openWith({ ...server.env, AWS_ENDPOINT_URL_S3: undefined, [name]: endpoint });
      await store.write('texts/a', Buffer.from('x'));
      expect(await store.list('texts/')).toEqual(['texts/a']);
    }
  });

  test('leaves retries after server errors to the SDK', async () => {
    const answers = [503, 200];
    const busy = await serve((_, response) => response.writeHead(answers.shift() ?? 500).end('whole'));
    const store = openWith({ ...server.env, AWS_ENDPOINT_URL_S3: busy.url });
    expect((await store.read('texts/a'))?.toString()).toBe('whole');
    expect(answers).toEqual([]);
    await busy.close();
  });

  describe('identifies its own writes when the answer was lost and the SDK retried:', () => {
    const close: (() => Promise<void>)[] = [];
    afterEach(async () => {
      await Promise.all(close.splice(0).map((each) => each()));
    });
    const stand = async (meanwhile: () => unknown = () => undefined, status?: number): Promise<Lossy> => {
      const lossy = await startLossy(server.env, meanwhile, status);
      close.push(lossy.close);
      return lossy;
    };
    const [first, second, third] = [Buffer.alloc(100, '1'), Buffer.alloc(100, '2'), Buffer.alloc(100, '3')];

    test('what it created is its own', async () => {
      const lossy = await stand();
      const store = openWith(lossy.env);
      expect(await store.create('lost/created', first)).toBe(true);
      expect(lossy.puts).toHaveLength(2);
      expect(await store.create('lost/created', first)).toBe(false);
      expect(await store.read('lost/created')).toEqual(first);
    });

    test('what it replaced is its own', async () => {
      const lossy = await stand();
      await openWith(server.env).create('lost/replaced', first);
      const store = openWith(lossy.env);
      expect(await store.replace('lost/replaced', second, first)).toBe(true);
      expect(lossy.puts).toHaveLength(2);
      expect(await store.read('lost/replaced')).toEqual(second);
    });

    test("another process's concurrent write is not its own, even if equal", async () => {
      const other = openWith(server.env);
      await other.create('lost/raced', first);
      const lossy = await stand(() => other.replace('lost/raced', second, first), 503);
      const store = openWith(lossy.env);
      expect(await store.replace('lost/raced', second, first)).toBe(false);
      expect(lossy.puts).toHaveLength(2);
      expect(await store.replace('lost/raced', third, second)).toBe(true);
    });

    test('a conflict between writes is retried before it is believed', async () => {
      const lossy = await stand(undefined, 409);
      expect(await openWith(lossy.env).create('lost/conflict', first)).toBe(true);
      expect(lossy.puts).toHaveLength(2);
    });
  });

  test('never sends more requests at once than the SDK has room for', async () => {
    const held: ServerResponse[] = [];
    const full = new EventEmitter();
    const busy = await serve(({ url }, response) => {
      if (url === '/') response.end();
      else if (held.push(response) === 32) full.emit('full');
    });
    const store = openWith({ ...server.env, AWS_ENDPOINT_URL_S3: busy.url });
    const reads = Array.from({ length: 64 }, (_, index) => store.read(`texts/${index}`));
    await once(full, 'full');
    // Lets requests that were sent at the same moment arrive.
    await fetch(busy.url);
    const came = held.length;
    await busy.close();
    await Promise.allSettled(reads);
    expect(came).toBe(32);
  });

  describe('says in one sentence, without the key, that', () => {
    const writing = (store: Store) => store.write('texts/a', Buffer.from('x'));
    const listing = (store: Store) => store.list('texts/');
    const NO_BUCKET =
      /^Error: the bucket of s3:\/\/no-such-bucket\/prefix does not exist: create it, or correct "store"/;
    const DENIED =
      /^Error: access to s3:\/\/bucket\/prefix is denied \(SignatureDoesNotMatch\): check .*AWS_PROFILE .* s3:ListBucket/;
    const NO_KEY = /^Error: there are no credentials for s3:\/\/bucket\/prefix: set AWS_PROFILE/;
    const NO_REGION = /^Error: there is no region for s3:\/\/bucket\/prefix.*: set AWS_REGION/;
    const UNREACHABLE =
      /^Error: the endpoint of s3:\/\/bucket\/prefix cannot be reached \(.*ECONNREFUSED.*\): check AWS_ENDPOINT_URL_S3/;

    test.each([
      ['the bucket is not there', {}, 's3://no-such-bucket/prefix', NO_BUCKET],
      ['the key is wrong', { AWS_SECRET_ACCESS_KEY: 'another-secret' }, undefined, DENIED],
      ['there is no key', { AWS_ACCESS_KEY_ID: '' }, undefined, NO_KEY],
      ['there is no region', { AWS_REGION: '' }, undefined, NO_REGION],
      ['nobody listens', { AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:9' }, undefined, UNREACHABLE],
    ])('%s', async (_, env, url, sentence) => {
      for (const ask of [writing, listing]) {
        const failure: unknown = await ask(openWith({ ...server.env, ...env }, url)).catch(String);
        expect(failure).toMatch(sentence);
        expect(failure).not.toContain(S3_SECRET);
      }
    });

    test('the SDK is not installed', async () => {
      jest.doMock('@aws-sdk/client-s3', () => {
        throw new Error("Cannot find module '@aws-sdk/client-s3'");
      });
      await expect(openWith(server.env).read('texts/a')).rejects.toThrow(
        /^a store in S3 needs a package: run "npm install @aws-sdk\/client-s3@3"/,
      );
      jest.dontMock('@aws-sdk/client-s3');
    });
  });
});

const answered = (name: string, httpStatusCode: number): object => ({
  name,
  message: 'as the server puts it',
  $metadata: { httpStatusCode },
});

test.each([
  ['a bucket of another region', answered('PermanentRedirect', 301), /another one .*: set AWS_REGION/],
  ['a request signed for it', answered('AuthorizationHeaderMalformed', 400), /one .*: set AWS_REGION/],
  ['a HEAD that is refused, without a body', answered('403', 403), /access to s3:\/\/b is denied \(403\)/],
  ['credentials that have expired', answered('ExpiredToken', 400), /denied \(ExpiredToken\)/],
  ['an unknown name', { name: 'Error', code: 'ENOTFOUND', message: 'getaddrinfo ENOTFOUND x' }, /reached/],
  ['a silent server', { name: 'TimeoutError', message: 'no answer' }, /cannot be reached \(no answer\)/],
  ['anything else', answered('SlowDown', 503), /^s3:\/\/b failed with SlowDown: as the .* it; .*try again/],
  ['no error at all', 'a string', /^s3:\/\/b failed with Error: a string; /],
])('explains %s', (_, error, sentence) => {
  expect(explainS3(error, 's3://b').message).toMatch(sentence);
});
