import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { BackgroundResponses, findLookup } from './background';
import type { Answer, AnswerFunction, ModelBehaviour } from './behaviour';
import { Cast } from './cast';
import { sendJson } from './delivery';
import type { Fault } from './faults';
import { RequestLog } from './request-log';
import type { RequestObserver, RequestRecord } from './request-log';
import { servePrompt } from './serve-prompt';
import type { Simulator } from './serve-prompt';
import { listModels } from './wire/model-list';
import { encodeOpenAiError } from './wire/openai-error';
import { findRoute } from './wire/route';

/** What to simulate; every part has a default. */
export interface Simulation {
  /** Decides what a `schedule` gives to whom; default 0. */
  readonly seed?: number;
  /** Behaviours by the model name that requests carry. */
  readonly models?: Readonly<Record<string, ModelBehaviour>>;
  /** For every model not named; default: plain answers. */
  readonly fallback?: ModelBehaviour;
  /** Default: a free one. */
  readonly port?: number;
  /** Number of the first request, for providers that go on where others were killed; default 1. */
  readonly firstSequence?: number;
  /** Called synchronously for each change of the log. */
  readonly observe?: RequestObserver;
}

/** A running server that speaks the protocols of OpenAI, Anthropic and Google on 127.0.0.1. */
export interface SimulatedProviders {
  /** Without a path. OpenAI's base URL is this with `/v1`; Anthropic's and Google's is this. */
  readonly url: string;
  readonly log: readonly RequestRecord[];
  /** Answers the next requests for a model, one each, before it goes back to its behaviour. */
  script(model: string, answers: readonly Answer[]): void;
  /** Lets the next requests about a model's responses in the background go wrong, one each. */
  scriptLookups(model: string, faults: readonly Fault[]): void;
  /** Replaces what a model answers when no script is left. */
  answer(model: string, answer: Answer | AnswerFunction): void;
  /** Holds back the answers to a model's requests until the returned function is called. */
  hold(model: string): () => void;
  /** The first request, logged already or still to come, that fits. */
  waitForRequest(fits: (record: RequestRecord) => boolean): Promise<RequestRecord>;
  /** Waits until the log as a whole fits, e.g. holds three open requests. */
  waitForLog(fits: (log: readonly RequestRecord[]) => boolean): Promise<void>;
  /** Waits until the client closes the connection of an unanswered request. */
  waitForClose(sequence: number): Promise<void>;
  /** Closes the server and every connection; open waits fail. */
  close(): Promise<void>;
}

/** Starts simulated model providers, so that tests and demos go through real SDKs and real HTTP. */
export async function startSimulatedProviders(simulation: Simulation = {}): Promise<SimulatedProviders> {
  const { seed = 0, models = {}, fallback = {}, port = 0, firstSequence = 1, observe } = simulation;
  const log = new RequestLog({ firstSequence, observe });
  const cast = new Cast(models, fallback, seed);
  const background = new BackgroundResponses(log);
  const server = createServer((request, response) => {
    respond({ log, cast, background }, request, response);
  });
  // Clients keep their connections; closing an idle one under a request in flight would be a fault nobody asked for.
  server.keepAliveTimeout = 0;
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');

  return {
    url: urlOf(server),
    log: log.records,
    script: (model, answers) => {
      cast.model(model).script(answers);
    },
    scriptLookups: (model, faults) => {
      cast.model(model).scriptLookups(faults);
    },
    answer: (model, answer) => {
      cast.model(model).answerWith(answer);
    },
    hold: (model) => cast.model(model).hold(),
    waitForRequest: (fits) => log.waitFor(() => log.records.find(fits)),
    waitForLog: async (fits) => {
      await log.waitFor(() => fits(log.records) || undefined);
    },
    waitForClose: async (sequence) => {
      await log.waitFor(() => closeOf(log.records.find((record) => record.sequence === sequence)));
    },
    close: async () => {
      log.close();
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

function respond(simulator: Simulator, request: IncomingMessage, response: ServerResponse): void {
  const { method = '', url = '' } = request;
  const path = url.replace(/\?.*/s, '');
  const route = method === 'POST' ? findRoute(path) : null;
  if (route) {
    void servePrompt(simulator, route, request, response);
    return;
  }
  const lookup = findLookup(method, path);
  if (lookup) {
    simulator.background.tell(lookup, path, request, response);
    return;
  }
  const list = method === 'GET' ? listModels(path, request.headers, simulator.cast.names) : null;
  if (list) {
    sendJson(response, 200, list);
    return;
  }
  const { status, body } = encodeOpenAiError('not-found', `Nothing is simulated at ${method} ${path}.`);
  sendJson(response, status, body);
}

/** undefined while the request is open, or has not come. */
function closeOf(record: RequestRecord | undefined): true | undefined {
  if (!record?.outcome) return undefined;
  if (record.outcome === 'closed-by-client') return true;
  throw new Error(
    `Request ${record.sequence} cannot be closed by the client any more: it ended as ${record.outcome}.`,
  );
}

function urlOf(server: Server): string {
  const address = server.address();
  if (address === null || typeof address === 'string') {
    throw new Error('The simulated providers listen on no TCP port; start them again.');
  }
  return `http://${address.address}:${address.port}`;
}
