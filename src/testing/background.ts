import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { deliverFault, type Delivery, sendJson } from './delivery';
import type { RequestLog, RequestRecord } from './request-log';
import type { SimulatedModel, SimulatedRequest } from './simulated-model';
import { encodeUnfinished, openAiResponses } from './wire/openai-responses';
import { encodeOpenAiError } from './wire/wire';

interface BackgroundRun {
  readonly record: RequestRecord;
  readonly request: SimulatedRequest;
  readonly simulated: SimulatedModel;
  readonly delivery: Delivery;
  status: 'queued' | 'in_progress' | 'over';
  body: object;
}

interface Lookup {
  readonly id: string;
  readonly cancels: boolean;
}

export function findLookup(method: string, path: string): Lookup | null {
  const [, id, cancel] = /^\/v1\/responses\/([^/]+)(\/cancel)?$/.exec(path) ?? [];
  const cancels = cancel !== undefined;
  return id !== undefined && method === (cancels ? 'POST' : 'GET') ? { id, cancels } : null;
}

const FREE = { usage: null, nanoUsd: 0 };

/** OpenAI's background responses: queued while their model is held, then in progress for its latency. */
export class BackgroundResponses {
  private readonly known = new Map<string, BackgroundRun>();

  constructor(private readonly log: RequestLog) {}

  start(started: Omit<BackgroundRun, 'status' | 'body'>, response: ServerResponse): void {
    const body = encodeUnfinished(started.request, 'queued');
    const known: BackgroundRun = { ...started, status: 'queued', body };
    this.known.set(body.id, known);
    sendJson(response, 200, body);
    void this.write(known);
  }

  /** Answers a request about a response; it is logged, and costs nothing. */
  answer(
    { id, cancels }: Lookup,
    { path, headers }: Pick<RequestRecord, 'path' | 'headers'>,
    response: ServerResponse,
  ): void {
    const known = this.known.get(id);
    const model = known?.request.model ?? null;
    const record = this.log.open({ protocol: 'openai-responses', model, path, headers, body: '' });
    const fault = known?.simulated.lookupFaults.shift();
    if (known === undefined) {
      this.log.finish(record, { outcome: 'rejected', ...FREE });
      sendJson(response, 404, encodeOpenAiError('not-found', `Response with id '${id}' not found.`).body);
    } else if (fault !== undefined) {
      const { outcome, send } = deliverFault(openAiResponses, known.request, fault, { text: '' });
      this.log.finish(record, { outcome, ...FREE });
      send?.(response);
    } else {
      if (cancels) this.cancel(known);
      this.log.finish(record, { outcome: 'answered', ...FREE });
      sendJson(response, 200, known.body);
    }
  }

  private async write(known: BackgroundRun): Promise<void> {
    const { request, simulated, delivery } = known;
    await simulated.opened();
    if (isOver(known)) return;
    known.status = 'in_progress';
    known.body = encodeUnfinished(request, 'in_progress');
    await delay(simulated.delayMs + delivery.delayMs, undefined, { ref: false });
    if (!isOver(known)) this.end(known, delivery, delivery.written ?? {});
  }

  private cancel(known: BackgroundRun): void {
    if (isOver(known)) return;
    const { usage } = known.delivery;
    const read = usage && { ...usage, outputTokens: 0, reasoningTokens: 0 };
    const billed = known.status === 'in_progress' ? read : null;
    const body = encodeUnfinished(known.request, 'cancelled', billed);
    this.end(known, { outcome: 'cancelled', usage: billed }, body);
  }

  private end(
    known: BackgroundRun,
    { outcome, usage }: Pick<Delivery, 'outcome' | 'usage'>,
    body: object,
  ): void {
    this.log.finish(known.record, { outcome, usage, nanoUsd: known.simulated.charge(usage) });
    known.status = 'over';
    known.body = body;
  }
}

/** A function, since the compiler assumes that a status stays the same during an `await`. */
function isOver({ status }: BackgroundRun): boolean {
  return status === 'over';
}
