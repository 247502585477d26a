import { once } from 'node:events';
import { createServer } from 'node:http';
import { answerRequest, type CodecService } from './answer-request';

/** Where a codec server listens, and for whom. */
export interface CodecServerOptions extends CodecService {
  /** An address of this machine, e.g. `127.0.0.1`. */
  readonly host: string;
  /** 0 takes any that is free. */
  readonly port: number;
}

/** A codec server that runs. */
export interface CodecServer {
  /** What Temporal's page and command line want as codec endpoint. */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Lets Temporal's page and command line show what is encrypted, without a key ever leaving this process: they send
 * payloads here, and show what comes back (https://docs.temporal.io/codec-server).
 *
 * - `POST /encode`, `POST /decode`: payloads in, payloads out.
 * - `POST /download`: the same as `/decode`, with long texts whole instead of by reference. Temporal's page sends each
 *   request with `?preserveStorageRefs=true` (temporalio/ui, `src/lib/services/data-encoder.ts`), which keeps `/decode`
 *   from doing so, too.
 *
 * A payload it cannot decrypt is 422 with the reason, a text that is not in the store 404.
 *
 * @throws the reason why it cannot listen there
 */
export async function startCodecServer({ host, port, ...service }: CodecServerOptions): Promise<CodecServer> {
  const server = createServer((request, response) => {
    void answerRequest(request, service).then(({ status, headers, body }) => {
      const type = body === '' ? {} : { 'content-type': 'application/json' };
      response.writeHead(status, { ...type, 'cache-control': 'no-store', ...headers }).end(body);
    });
  });
  server.listen(port, host);
  await once(server, 'listening');
  const address = server.address();
  const bound = typeof address === 'object' ? address?.port : undefined;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound ?? port}`,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
