import type { AnswerEvent } from '../solve/told';
import {
  answerItem,
  answerIn,
  type CallItem,
  inputOf,
  type OutputItem,
  type ResponseBody,
  textPart,
} from './response-object';

/** An event of OpenAI's response stream; clients throw on types that they do not know. */
export interface ResponseEvent {
  readonly type: string;
  readonly sequence_number: number;
}

/** Names and fields of the events of an output item, by its type. */
const FORMS = {
  reasoning: {
    part: 'response.reasoning_summary_part',
    text: 'response.reasoning_summary_text',
    place: { summary_index: 0 },
    partOf: summaryPart,
    more: {},
    done: (text: string) => ({ text }),
  },
  message: {
    part: 'response.content_part',
    text: 'response.output_text',
    place: { content_index: 0 },
    partOf: textPart,
    more: { logprobs: [] },
    done: (text: string) => ({ text }),
  },
  function_call: {
    // A call has no parts.
    part: null,
    text: 'response.function_call_arguments',
    place: {},
    more: {},
    done: (text: string) => ({ arguments: text }),
  },
  custom_tool_call: {
    part: null,
    text: 'response.custom_tool_call_input',
    place: {},
    more: {},
    done: (text: string) => ({ input: text }),
  },
} as const;

interface OpenItem {
  readonly type: OutputItem['type'];
  /** Id of its response and its place in it. */
  readonly id: string;
  text: string;
  /** The whole item, of a call of one of the caller's functions. */
  readonly call: CallItem | null;
}

const END_TYPES: Readonly<Partial<Record<ResponseBody['status'], string>>> = {
  completed: 'response.completed',
  incomplete: 'response.incomplete',
};

/**
 * Encodes the events of a response (https://platform.openai.com/docs/api-reference/responses-streaming): output items
 * one after another, progress lines and thoughts as reasoning summaries, and the answer as a message. Progress is not told while
 * the answer is written. If the text of a message turns out void, the message ends empty and another item follows.
 */
export class ResponseEncoder {
  private count = 0;
  private open: OpenItem | null = null;
  /** Whether the last piece of a reasoning item is a whole line. */
  private isLine = false;
  private readonly items: OutputItem[] = [];

  constructor(private readonly begun: ResponseBody) {}

  *begin(): Generator<ResponseEvent> {
    yield this.event('response.created', { response: this.begun });
    // Sent only once: clients drop what they have when it comes again.
    yield this.event('response.in_progress', { response: this.begun });
  }

  *tell(told: AnswerEvent): Generator<ResponseEvent> {
    if (told.kind === 'dropped') yield* this.close('incomplete', null);
    else if (told.kind === 'commented') yield* this.closeAsIs();
    else if (told.kind === 'delta') yield* this.write(this.answerType, told.text);
    else if (this.open === null || this.open.type === 'reasoning') yield* this.tellReasoning(told);
  }

  private *tellReasoning(
    told: Extract<AnswerEvent, { kind: 'progress' | 'thoughts' }>,
  ): Generator<ResponseEvent> {
    const isLine = told.kind === 'progress';
    const isApart = this.open !== null && (isLine || this.isLine);
    yield* this.write('reasoning', `${isApart ? '\n' : ''}${isLine ? told.line : told.text}`);
    this.isLine = isLine;
  }

  /** @param response final state of the response */
  *end(response: ResponseBody): Generator<ResponseEvent> {
    const calls = this.answerType === 'message' ? response.output.filter(isCall) : [];
    if (calls.length > 0) {
      yield* this.closeAsIs();
      for (const call of calls) yield* this.add(call);
    } else {
      const [answer] = response.output;
      const status = answer?.status === 'completed' ? 'completed' : 'incomplete';
      yield* this.close(status, answer === undefined ? null : answerIn(answer));
    }
    const ended = { ...response, output: this.items };
    yield this.event(END_TYPES[response.status] ?? 'response.failed', { response: ended });
  }

  private get answerType(): OutputItem['type'] {
    return typeof this.begun.tool_choice === 'string' ? 'message' : 'function_call';
  }

  private *add(call: CallItem): Generator<ResponseEvent> {
    const input = inputOf(call);
    yield* this.write(call.type, input, call);
    yield* this.close('completed', input);
  }

  private *write(
    type: OutputItem['type'],
    delta: string,
    call: CallItem | null = null,
  ): Generator<ResponseEvent> {
    const { text, more } = FORMS[type];
    // Only reasoning is followed by an item of another type while it is open.
    if (this.open !== null && this.open.type !== type) yield* this.close('completed', null);
    this.open ??= yield* this.beginItem(type, call);
    this.open.text += delta;
    yield this.event(`${text}.delta`, { ...this.place(this.open), delta, ...more });
  }

  private *beginItem(type: OutputItem['type'], call: CallItem | null): Generator<ResponseEvent, OpenItem> {
    const form = FORMS[type];
    const output_index = this.items.length;
    const open = { type, id: `${this.begun.id}_${output_index}`, text: '', call };
    const item = this.itemOf(open, 'in_progress', null);
    yield this.event('response.output_item.added', { output_index, item });
    if (form.part !== null)
      yield this.event(`${form.part}.added`, { ...this.place(open), part: form.partOf('') });
    return open;
  }

  /** Ends the open item with the text that was told. */
  private *closeAsIs(): Generator<ResponseEvent> {
    yield* this.close('completed', this.open?.text ?? null);
  }

  /**
   * Ends the open item. Reasoning is complete as it is.
   * @param answer final text of an answer; null if the text that was told is void
   */
  private *close(status: 'completed' | 'incomplete', answer: string | null): Generator<ResponseEvent> {
    if (this.open === null) return;
    const { type, text } = this.open;
    const form = FORMS[type];
    const place = this.place(this.open);
    yield this.event(`${form.text}.done`, { ...place, ...form.done(text), ...form.more });
    if (form.part !== null) yield this.event(`${form.part}.done`, { ...place, part: form.partOf(text) });
    const item = this.itemOf(this.open, status, answer);
    yield this.event('response.output_item.done', { output_index: this.items.length, item });
    this.items.push(item);
    this.open = null;
  }

  private itemOf(
    { type, id, text, call }: OpenItem,
    status: 'in_progress' | 'completed' | 'incomplete',
    answer: string | null,
  ): OutputItem {
    if (call !== null) return { ...call, ...FORMS[call.type].done(answer ?? ''), status };
    if (type !== 'reasoning') return answerItem(this.begun, id, { answer, status });
    const isOpen = status === 'in_progress';
    const summary = isOpen ? [] : [summaryPart(text)];
    return { type, id: `rs_${id}`, summary, status: isOpen ? status : 'completed' };
  }

  private place(open: OpenItem): object {
    const { id } = this.itemOf(open, 'in_progress', null);
    return { item_id: id, output_index: this.items.length, ...FORMS[open.type].place };
  }

  private event(type: string, fields: object): ResponseEvent {
    const event = { type, sequence_number: this.count, ...fields };
    this.count += 1;
    return event;
  }
}

function isCall(item: OutputItem): item is CallItem {
  return item.type === 'function_call' || item.type === 'custom_tool_call';
}

function summaryPart(text: string) {
  return { type: 'summary_text', text } as const;
}
