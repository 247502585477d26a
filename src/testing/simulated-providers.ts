import { once } from 'node:events';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { BackgroundResponses, findLookup } from './background';
import type { Answer, AnswerFunction, ModelBehaviour } from './behaviour';
import { type Delivery, prepareAnswer, prepareRejection, sendJson } from './delivery';
import type { Fault } from './faults';
import { RequestLog, type RequestObserver, type RequestRecord } from './request-log';
import { Cast } from './simulated-model';
import { decodePrompt, findRoute, listModels, type Route } from './wire/route';
import { encodeOpenAiError } from './wire/wire';

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
  // Clients keep their connections; closing an idle one under a request in flight would be a fault that no test asked for.
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

/** What all requests share. */
interface Simulator {
  readonly log: RequestLog;
  readonly cast: Cast;
  readonly background: BackgroundResponses;
}

/**
 * Takes one posted prompt from its last byte to the last byte of its answer.
 *
 * The answer is chosen on arrival, so that a script is handed out in the order of arrival whatever the latencies.
 * The log is written first, so that no client can know of an answer before the log does.
 */
async function servePrompt(
  { log, cast, background }: Simulator,
  route: Route,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { wire, path } = route;
  const body = await readText(request).catch(() => null);
  // The client left in the middle of its own request: no provider would have read it.
  if (body === null) return;

  const prompt = decodePrompt(route, body);
  const model = 'problem' in prompt ? null : prompt.model;
  const record = log.open({ protocol: wire.protocol, model, path, headers: request.headers, body });
  response.setHeader(wire.requestIdHeader, `req_${record.sequence}`);

  const deliver = ({ outcome, usage, send }: Delivery, nanoUsd: number | null): void => {
    if (record.outcome !== null || send === null) return;
    log.finish(record, { outcome, usage, nanoUsd });
    send(response);
  };
  if ('problem' in prompt) {
    deliver(prepareRejection(wire, prompt.problem), 0);
    return;
  }
  const simulated = cast.model(prompt.model);
  const text = prompt.messages.map((message) => message.text).join('\n\n');
  const callId = request.headers['x-client-request-id']?.toString() ?? null;
  const asked = { ...prompt, sequence: record.sequence, protocol: wire.protocol, callId, text };
  const delivery = prepareAnswer(wire, asked, simulated);
  if (prompt.background === true && delivery.written !== null) {
    background.begin({ record, request: asked, simulated, delivery }, response);
    return;
  }
  response.on('close', () => {
    log.abandon(record);
  });
  await simulated.opened();
  await delay(simulated.delayMs + delivery.delayMs, undefined, { ref: false });
  deliver(delivery, delivery.usage === null ? 0 : simulated.charge(delivery.usage));
}

/** Has simulated providers continue the log that earlier ones wrote to this file. */
export function continueLog(file: string): Required<Pick<Simulation, 'firstSequence' | 'observe'>> {
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  // Numbers, and ids made of them, are not given out twice.
  const received = lines.filter((line) => line.startsWith('{"event":"received"')).length;
  return {
    firstSequence: received + 1,
    // One JSON object a line, on disk before the server goes on: the count holds whichever process is killed next.
    observe: (event, record) => {
      appendFileSync(file, `${JSON.stringify({ event, ...record })}\n`);
    },
  };
}
/** @throws Error for a text that is no port */
export function readPort(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65535) return port;
  throw new Error(`--port takes a number from 0 (any free port) to 65535, not "${text}".`);
}
