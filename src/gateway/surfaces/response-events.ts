import type { Told } from '../solve/told';
import { type OutputItem, type ResponseBody, textPart } from './response-object';

/** An event of OpenAI's response stream; clients throw on types that they do not know. */
export interface ResponseEvent {
  readonly type: string;
  readonly sequence_number: number;
}

interface OpenItem {
  readonly type: OutputItem['type'];
  readonly id: string;
  text: string;
}

const END_TYPES: Readonly<Partial<Record<ResponseBody['status'], string>>> = {
  completed: 'response.completed',
  incomplete: 'response.incomplete',
};

/**
 * Encodes the events of a response (https://platform.openai.com/docs/api-reference/responses-streaming): output items
 * one after another, progress lines as reasoning summaries, and the answer as a message. Progress is not told while
 * the answer is written. If the text of a message turns out void, the message ends empty and another item follows.
 */
export class ResponseEncoder {
  #count = 0;
  #open: OpenItem | null = null;
  readonly #items: OutputItem[] = [];

  constructor(private readonly begun: ResponseBody) {}

  *begin(): Generator<ResponseEvent> {
    yield this.#event('response.created', { response: this.begun });
    // Sent only once: clients drop what they have when it comes again.
    yield this.#event('response.in_progress', { response: this.begun });
  }

  *tell(told: Told): Generator<ResponseEvent> {
    if (told.kind === 'dropped') yield* this.#endMessage('incomplete', []);
    else if (told.kind === 'delta') yield* this.#write(told.text);
    else yield* this.#summarize(told.line);
  }

  /** @param response final state of the response */
  *end(response: ResponseBody): Generator<ResponseEvent> {
    yield* this.#endReasoning();
    const message = response.output.find(({ type }) => type === 'message');
    if (message?.type === 'message') {
      const status = message.status === 'completed' ? 'completed' : 'incomplete';
      yield* this.#endMessage(status, message.content);
    } else yield* this.#endMessage('incomplete', []);
    const ended = { ...response, output: this.#items };
    yield this.#event(END_TYPES[response.status] ?? 'response.failed', { response: ended });
  }

  *#summarize(line: string): Generator<ResponseEvent> {
    if (this.#open?.type === 'message') return;
    if (this.#open === null) {
      const id = yield* this.#add('reasoning');
      const part = { type: 'summary_text', text: '' };
      yield this.#event('response.reasoning_summary_part.added', { ...this.#summaryPlace(id), part });
      this.#open = { type: 'reasoning', id, text: '' };
    }
    const delta = this.#open.text === '' ? line : `\n${line}`;
    this.#open.text += delta;
    yield this.#event('response.reasoning_summary_text.delta', {
      ...this.#summaryPlace(this.#open.id),
      delta,
    });
  }

  *#endReasoning(): Generator<ResponseEvent> {
    if (this.#open?.type !== 'reasoning') return;
    const { id, text } = this.#open;
    const place = this.#summaryPlace(id);
    const part = { type: 'summary_text', text } as const;
    yield this.#event('response.reasoning_summary_text.done', { ...place, text });
    yield this.#event('response.reasoning_summary_part.done', { ...place, part });
    yield* this.#finish({ type: 'reasoning', id, summary: [part], status: 'completed' });
  }

  *#write(delta: string): Generator<ResponseEvent> {
    yield* this.#endReasoning();
    if (this.#open === null) {
      const id = yield* this.#add('message');
      yield this.#event('response.content_part.added', { ...this.#contentPlace(id), part: textPart('') });
      this.#open = { type: 'message', id, text: '' };
    }
    this.#open.text += delta;
    const place = this.#contentPlace(this.#open.id);
    yield this.#event('response.output_text.delta', { ...place, delta, logprobs: [] });
  }

  /** @param content final content of the item; empty if the text that was told is void */
  *#endMessage(
    status: 'completed' | 'incomplete',
    content: ReturnType<typeof textPart>[],
  ): Generator<ResponseEvent> {
    if (this.#open?.type !== 'message') return;
    const { id, text } = this.#open;
    const place = this.#contentPlace(id);
    yield this.#event('response.output_text.done', { ...place, text, logprobs: [] });
    yield this.#event('response.content_part.done', { ...place, part: textPart(text) });
    yield* this.#finish({ type: 'message', id, role: 'assistant', status, content });
  }

  /** @returns the id of the new item */
  *#add(type: OutputItem['type']): Generator<ResponseEvent, string> {
    const index = this.#items.length;
    const id = `${type === 'message' ? 'msg' : 'rs'}_${this.begun.id}_${index}`;
    const item =
      type === 'message'
        ? { type, id, role: 'assistant', status: 'in_progress', content: [] }
        : { type, id, status: 'in_progress', summary: [] };
    yield this.#event('response.output_item.added', { output_index: index, item });
    return id;
  }

  *#finish(item: OutputItem): Generator<ResponseEvent> {
    yield this.#event('response.output_item.done', { output_index: this.#items.length, item });
    this.#items.push(item);
    this.#open = null;
  }

  #summaryPlace(id: string): object {
    return { item_id: id, output_index: this.#items.length, summary_index: 0 };
  }

  #contentPlace(id: string): object {
    return { item_id: id, output_index: this.#items.length, content_index: 0 };
  }

  #event(type: string, fields: object): ResponseEvent {
    const event = { type, sequence_number: this.#count, ...fields };
    this.#count += 1;
    return event;
  }
}
