import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { listen, type Listening } from '../../src/network/listen';

export type { Listening };

/** Starts a server for one test on a free port of this machine. */
export function serve(listener: RequestListener): Promise<Listening> {
  return listen(createServer(listener), 0, '127.0.0.1');
}

/** Starts a server for the tests of a file; each test sets how it answers. */
export function useServer(): { readonly url: string; answer: (response: ServerResponse) => void } {
  const server = { url: '', answer: (response: ServerResponse): unknown => response.end() };
  let listening: Listening;
  beforeAll(async () => {
    listening = await serve((request, response) => {
      request.resume();
      server.answer(response);
    });
    server.url = listening.url;
  });
  afterAll(() => listening.close());
  return server;
}
