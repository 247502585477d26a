import type { IncomingMessage, ServerResponse } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import type { BackgroundResponses } from './background';
import type { Cast } from './cast';
import { prepareAnswer, prepareRejection } from './delivery';
import type { Delivery } from './delivery';
import type { RequestLog } from './request-log';
import { decodePrompt } from './wire/decode';
import type { Route } from './wire/route';

/** What all requests share. */
export interface Simulator {
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
export async function servePrompt(
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
