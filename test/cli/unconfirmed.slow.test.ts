import { once } from 'node:events';
import { connect as dial, createServer, type IncomingHttpHeaders } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { testServerAddress } from '../support/test-server';
import { endedWith } from './command';
import { PLAN, useStage } from './stage';

const START = '/temporal.api.workflowservice.v1.WorkflowService/StartWorkflowExecution';
const LOST = { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '4' };

/** A way to the tests' server on which its answer to the start of a run gets lost. */
interface Way {
  readonly address: string;
  close(): void;
}

async function openWay(): Promise<Way> {
  const upstream = dial(`http://${testServerAddress()}`);
  const server = createServer();
  server.on('stream', (stream, headers) => {
    const request = upstream.request(headers);
    let trailers: IncomingHttpHeaders = {};
    request.on('trailers', (found: IncomingHttpHeaders) => {
      trailers = found;
    });
    stream.on('wantTrailers', () => {
      stream.sendTrailers(trailers);
    });
    for (const each of [stream, request]) each.on('error', () => undefined);
    stream.pipe(request);
    request.on('response', (found) => {
      if (stream.destroyed) return;
      if (headers[':path'] === START) {
        stream.respond(LOST, { endStream: true });
        return;
      }
      stream.respond(found, { waitForTrailers: true });
      request.pipe(stream);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = (): void => {
    upstream.destroy();
    server.close();
  };
  return { address: `127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

const stage = useStage({ boss: { answer: PLAN }, alpha: { answer: 'It is.' } }, { server: 'shared' });
let way: Way;
beforeEach(async () => {
  way = await openWay();
});
afterEach(() => {
  way.close();
});

test('a run whose start was not confirmed is named, so that nobody pays for it twice', async () => {
  const env = { TEMPORAL_ADDRESS: way.address };
  const start = (...args: string[]) => stage.start(args, { env }).ended;
  const watched = /If it is running, follow it with: temporal-conductor watch (\S+)\n/;
  await stage.startReady(['worker']);
  // A worker of the command's own would end with it, and leave its calls to be timed out.
  const solved = await start('solve', '--detach', 'Is it?');
  expect(solved).toMatchObject(endedWith(1, watched));
  const [, id = ''] = watched.exec(solved.stderr) ?? [];
  expect(await stage.run('watch', id)).toMatchObject({ code: 0, stdout: 'It is.\n' });
  const retried = await start('retry', id, '--from', '1');
  expect(retried).toMatchObject(endedWith(1, watched));
  const [, again = ''] = watched.exec(retried.stderr) ?? [];
  expect(again).toMatch(new RegExp(`^${id}-retry-`));
  expect(await stage.run('watch', again)).toMatchObject({ code: 0, stdout: 'It is.\n' });
  expect(stage.callsOf('alpha')).toBe(2);
});
