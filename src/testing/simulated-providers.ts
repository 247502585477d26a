import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { listen, type Listening } from '../network/listen';
import { BackgroundResponses, findLookup } from './background';
import { type Delivery, prepareAnswer, prepareRejection, sendJson } from './delivery';
import type { Fault } from './faults';
import { RequestLog, type RequestObserver, type RequestRecord } from './request-log';
import { type Answer, type AnswerFunction, type ModelBehaviour, SimulatedModel } from './simulated-model';
import { decodePrompt, findRoute, listModels, type Route } from './wire/route';
import { encodeOpenAiError } from './wire/wire';

export interface Simulation {
  /** Seed for the draws of each `schedule`; default 0. */
  readonly seed?: number;
  readonly models?: Readonly<Record<string, ModelBehaviour>>;
  readonly fallback?: ModelBehaviour;
  readonly port?: number;
  /** Number of the first request, for providers that continue where others were killed; default 1. */
  readonly firstSequence?: number;
  readonly observe?: RequestObserver;
}

/** Starts simulated model providers, so that tests and demos go through real SDKs and real HTTP. */
export async function startSimulatedProviders(simulation: Simulation = {}): Promise<SimulatedProviders> {
  const providers = new SimulatedProviders(simulation);
  await providers.listen();
  return providers;
}

/** A server that speaks the protocols of OpenAI, Anthropic and Google on 127.0.0.1. */
export class SimulatedProviders {
  readonly log: readonly RequestRecord[];
  private readonly requests: RequestLog;
  private readonly models: Map<string, SimulatedModel>;
  private readonly background: BackgroundResponses;
  private listening: Listening | undefined;
  private readonly server = createServer((request, response) => {
    this.respond(request, response);
  });

  constructor(private readonly simulation: Simulation) {
    const { seed = 0, models = {}, firstSequence = 1, observe } = simulation;
    this.requests = new RequestLog(firstSequence, observe);
    this.log = this.requests.records;
    this.models = new Map(
      Object.entries(models).map(([name, behaviour]) => [name, new SimulatedModel(behaviour, seed)]),
    );
    this.background = new BackgroundResponses(this.requests);
    // Closing an idle connection while the client sends its next request would be a fault that no test asked for.
    this.server.keepAliveTimeout = 0;
  }

  async listen(): Promise<void> {
    this.listening = await listen(this.server, this.simulation.port ?? 0, '127.0.0.1');
  }

  /** URL without a path. OpenAI's base URL has `/v1` appended; Anthropic's and Google's is this one. */
  get url(): string {
    return this.listening?.url ?? '';
  }

  /** Queues answers for a model's next requests, one each; afterwards its usual behaviour applies. */
  script(model: string, answers: readonly Answer[]): void {
    this.model(model).script.push(...answers);
  }

  /** Queues faults for the next lookups of a model's background responses, one each. */
  scriptLookups(model: string, faults: readonly Fault[]): void {
    this.model(model).lookupFaults.push(...faults);
  }

  answer(model: string, answer: Answer | AnswerFunction): void {
    this.model(model).answer = answer;
  }

  /** Holds back the answers to a model's requests until the returned function is called. */
  hold(model: string): () => void {
    return this.model(model).hold();
  }

  /** Waits for the first request that fits, logged already or still to come. */
  waitForRequest(fits: (record: RequestRecord) => boolean): Promise<RequestRecord> {
    return this.requests.waitFor(() => this.log.find(fits));
  }

  async waitForLog(fits: (log: readonly RequestRecord[]) => boolean): Promise<void> {
    await this.requests.waitFor(() => fits(this.log) || undefined);
  }

  /** Waits until the client closes the connection of an unanswered request. */
  async waitForClose(sequence: number): Promise<void> {
    await this.requests.waitFor(() => {
      const outcome = this.log.find((record) => record.sequence === sequence)?.outcome;
      if (!outcome) return undefined;
      if (outcome === 'closed-by-client') return true;
      throw new Error(`Request ${sequence} can no longer be closed by the client: it ended as ${outcome}.`);
    });
  }

  /** Closes the server and every connection; pending waits fail. */
  async close(): Promise<void> {
    this.requests.close();
    await this.listening?.close();
  }

  private model(name: string): SimulatedModel {
    const { fallback = {}, seed = 0 } = this.simulation;
    const model = this.models.get(name) ?? new SimulatedModel(fallback, seed);
    this.models.set(name, model);
    return model;
  }

  private respond(request: IncomingMessage, response: ServerResponse): void {
    const { method = '', url = '', headers } = request;
    const path = url.replace(/\?.*/s, '');
    const route = method === 'POST' ? findRoute(path) : null;
    const lookup = findLookup(method, path);
    const list = method === 'GET' ? listModels(path, headers, [...this.models.keys()]) : null;
    if (route) void this.answerPrompt(route, request, response);
    else if (lookup) this.background.answer(lookup, { path, headers }, response);
    else if (list) sendJson(response, 200, list);
    else {
      const { status, body } = encodeOpenAiError('not-found', `Nothing is simulated at ${method} ${path}.`);
      sendJson(response, status, body);
    }
  }

  /** Chooses the answer on arrival, in script order, and writes the log before a client can know about it. */
  private async answerPrompt(
    route: Route,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const { wire, path } = route;
    const { headers } = request;
    const body = await readText(request).catch(() => null);
    // The client left before its request was complete, so no provider would have read it.
    if (body === null) return;

    const prompt = decodePrompt(route, body);
    const model = 'problem' in prompt ? null : prompt.model;
    const record = this.requests.open({ protocol: wire.protocol, model, path, headers, body });
    response.setHeader(wire.requestIdHeader, `req_${record.sequence}`);

    const deliver = ({ outcome, usage, send }: Delivery, nanoUsd: number | null): void => {
      if (record.outcome !== null || send === null) return;
      this.requests.finish(record, { outcome, usage, nanoUsd });
      send(response);
    };
    if ('problem' in prompt) {
      deliver(prepareRejection(wire, prompt.problem), 0);
      return;
    }
    const simulated = this.model(prompt.model);
    const text = prompt.messages.map((message) => message.text).join('\n\n');
    const callId = headers['x-client-request-id']?.toString() ?? null;
    const asked = { ...prompt, sequence: record.sequence, protocol: wire.protocol, callId, text };
    const delivery = prepareAnswer(wire, asked, simulated);
    if (prompt.background === true && delivery.written !== null) {
      this.background.start({ record, request: asked, simulated, delivery }, response);
      return;
    }
    response.on('close', () => {
      this.requests.finish(record, { outcome: 'closed-by-client', usage: null, nanoUsd: 0 });
    });
    await simulated.opened();
    await delay(simulated.delayMs + delivery.delayMs, undefined, { ref: false });
    deliver(delivery, simulated.charge(delivery.usage));
  }
}
