import { ResponseStream } from 'openai/lib/responses/ResponseStream';
import { stopping } from '../../src/gateway/closing';
import type { EventFrame } from '../../src/gateway/event-stream';
import { ResponseEncoder, type ResponseEvent } from '../../src/gateway/surfaces/response-events';
import { beginningOf, type ResponseBody, textPart } from '../../src/gateway/surfaces/response-object';
import { ResponseFrames } from '../../src/gateway/surfaces/response-stream';
import type { ResponseNotes } from '../../src/gateway/surfaces/responses-schema';

const NOTES: ResponseNotes = {
  model: 'conductor',
  created_at: 1,
  background: false,
  previous_response_id: null,
  max_output_tokens: null,
  effort: null,
  metadata: {},
  user: null,
  isInstructed: false,
  warnings: [],
};
const BEGUN = beginningOf({ id: 'one', notes: NOTES });

function ended(status: ResponseBody['status'], text?: string): ResponseBody {
  const content = [textPart(text ?? '')];
  const itemStatus = status === 'completed' ? 'completed' : 'incomplete';
  const message = { type: 'message', id: 'msg', role: 'assistant', status: itemStatus, content } as const;
  return { ...BEGUN, status, output: text === undefined ? [] : [message] };
}

async function* eventsOf(end: ResponseBody): AsyncGenerator<ResponseEvent> {
  const encoder = new ResponseEncoder(BEGUN);
  yield* encoder.begin();
  yield* encoder.tell({ kind: 'progress', line: 'Step 1' });
  yield* encoder.tell({ kind: 'delta', text: 'Eight' });
  yield* encoder.tell({ kind: 'progress', line: 'Step 1 is done' });
  await Promise.resolve();
  yield* encoder.end(end);
}

const dataOf = ({ data }: EventFrame): string => JSON.stringify(data);

/** Returns what OpenAI's client makes of a stream with an event that says nothing after each event. */
async function readByClient(end: ResponseBody) {
  const frames = new ResponseFrames(-1);
  const lines: string[] = [];
  for await (const frame of frames.of(eventsOf(end))) {
    lines.push(dataOf(frame), dataOf(frames.nothing()));
  }
  const body = new Response(`${lines.join('\n')}\n`).body;
  if (body === null) throw new Error('there is no body');
  return ResponseStream.fromReadableStream(body).finalResponse();
}

test('an event without content changes nothing for clients', async () => {
  expect(await readByClient(ended('completed', 'Eight'))).toMatchObject({
    status: 'completed',
    output_text: 'Eight',
    output: [{ summary: [{ text: 'Step 1' }] }, { status: 'completed' }],
  });
});

test('an answer that was cut off is incomplete, and is kept', async () => {
  expect(await readByClient(ended('incomplete', 'Eight'))).toMatchObject({
    status: 'incomplete',
    output_text: 'Eight',
    output: [{}, { status: 'incomplete' }],
  });
});

test('text that was sent of an answer that never came is not kept', async () => {
  expect(await readByClient(ended('failed'))).toMatchObject({
    status: 'failed',
    output_text: '',
    output: [{}, { status: 'incomplete', content: [] }],
  });
});

test('a stream that breaks off says where to resume', async () => {
  async function* broken(): AsyncGenerator<ResponseEvent> {
    for await (const event of eventsOf(ended('completed', 'Eight'))) {
      if (event.sequence_number === 3) throw new Error('no store');
      yield event;
    }
  }
  const frames = new ResponseFrames(0);
  const sent: EventFrame[] = [];
  const sending = async (): Promise<void> => {
    for await (const frame of frames.of(broken())) sent.push(frame);
  };
  await sending().catch(() => sent.push(frames.failed(stopping('one'))));
  expect(sent.map((frame) => JSON.parse(dataOf(frame)) as object)).toMatchObject([
    { sequence_number: 1 },
    { sequence_number: 2 },
    { type: 'error', sequence_number: 2, message: expect.stringContaining('starting_after=2') as string },
  ]);
});
