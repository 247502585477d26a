import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { SimulatedRequest } from './behaviour';
import { deliverFault, type Delivery, sendJson } from './delivery';
import type { RequestLog, RequestRecord } from './request-log';
import type { SimulatedModel } from './simulated-model';
import { encodeUnfinished, openAiResponses } from './wire/openai-responses';
import { encodeOpenAiError } from './wire/wire';

/** A response started in the background, from its creation on. */
export interface BackgroundResponse {
  readonly record: RequestRecord;
  readonly request: SimulatedRequest;
  readonly simulated: SimulatedModel;
  readonly delivery: Delivery;
}

type Known = BackgroundResponse & { status: 'queued' | 'in_progress' | 'over'; body: object };

/** A request about a response that was started in the background. */
export interface Lookup {
  readonly id: string;
  readonly verb: 'read' | 'cancel';
}

const ABOUT = /^\/v1\/responses\/([^/]+)(\/cancel)?$/;

/** Reads what is asked about which response; null for any other address. */
export function findLookup(method: string, path: string): Lookup | null {
  const [, id, cancel] = ABOUT.exec(path) ?? [];
  if (id === undefined || method !== (cancel === undefined ? 'GET' : 'POST')) return null;
  return { id, verb: cancel === undefined ? 'read' : 'cancel' };
}

/**
 * OpenAI's responses in the background: each is started and billed once, goes on whichever client leaves, and is reported as often as
 * one asks. While its model is held it is queued, for its latency in progress. One that is cancelled in progress is
 * billed, and says so, for the input that was read; one that is cancelled before costs nothing.
 */
export class BackgroundResponses {
  readonly #log: RequestLog;
  readonly #known = new Map<string, Known>();

  constructor(log: RequestLog) {
    this.#log = log;
  }

  /** Begins a response and goes on with it by itself. */
  begin(begun: BackgroundResponse, response: ServerResponse): void {
    const body = encodeUnfinished(begun.request, 'queued');
    const known: Known = { ...begun, status: 'queued', body };
    this.#known.set(body.id, known);
    sendJson(response, 200, body);
    void this.#write(known);
  }

  /** Answers a request about a response; it is logged, and costs nothing. */
  tell({ id, verb }: Lookup, path: string, { headers }: RequestHead, response: ServerResponse): void {
    const known = this.#known.get(id);
    const model = known?.request.model ?? null;
    const record = this.#log.open({ protocol: 'openai-responses', model, path, headers, body: '' });
    const fault = known?.simulated.nextLookupFault();
    if (known === undefined) {
      this.#log.finish(record, { outcome: 'rejected', ...FREE });
      sendJson(response, 404, encodeOpenAiError('not-found', `Response with id '${id}' not found.`).body);
    } else if (fault !== undefined) {
      const { outcome, send } = deliverFault(openAiResponses, known.request, fault, { text: '' });
      this.#log.finish(record, { outcome, ...FREE });
      send?.(response);
    } else {
      if (verb === 'cancel') this.#cancel(known);
      this.#log.finish(record, { outcome: 'answered', ...FREE });
      sendJson(response, 200, known.body);
    }
  }

  async #write(known: Known): Promise<void> {
    const { request, simulated, delivery } = known;
    await simulated.opened();
    if (known.status === 'over') return;
    known.status = 'in_progress';
    known.body = encodeUnfinished(request, 'in_progress');
    await delay(simulated.delayMs + delivery.delayMs, undefined, { ref: false });
    if (isOver(known)) return;
    this.#end(known, delivery, delivery.written ?? {});
  }

  #cancel(known: Known): void {
    if (known.status === 'over') return;
    const { usage } = known.delivery;
    const read = usage && { ...usage, outputTokens: 0, reasoningTokens: 0 };
    const billed = known.status === 'in_progress' ? read : null;
    this.#end(
      known,
      { outcome: 'cancelled', usage: billed },
      encodeUnfinished(known.request, 'cancelled', billed),
    );
  }

  #end(known: Known, { outcome, usage }: Pick<Delivery, 'outcome' | 'usage'>, body: object): void {
    const nanoUsd = usage === null ? 0 : known.simulated.charge(usage);
    this.#log.finish(known.record, { outcome, usage, nanoUsd });
    known.status = 'over';
    known.body = body;
  }
}

type RequestHead = Pick<RequestRecord, 'headers'>;

const FREE = { usage: null, nanoUsd: 0 };

/** Asked anew after a wait, in which a cancellation may have come. */
function isOver({ status }: Known): boolean {
  return status === 'over';
}
