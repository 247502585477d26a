import { createRoute } from '@hono/zod-openapi';
import type { SolveResult } from '../../protocol/solve';
import { asRefusal } from '../as-refusal';
import { type Asked, IGNORE_HEADER } from '../solve/asked';
import { frameOf, streamEvents } from '../event-stream';
import { type AnswerPart, followAnswer, leave, waitForResult } from '../solve/follow-answer';
import type { App, Gateway } from '../gateway';
import { noteOf } from '../solve/note';
import { givenUp, type Refusal, refusalOfRun, toOpenAiError } from '../refusal';
import { bodyOf, jsonOrEventsOf, refusals } from '../routes';
import { sentBy, startSolve } from '../solve/start-solve';
import { costOf, headersOf, solveHeader, tokensOf, wasCut } from '../solve/usage';
import {
  askedOfChat,
  type ChatCompletion,
  chatCompletionSchema,
  type ChatRequest,
  chatRequestSchema,
  type CompletionUsage,
} from './chat-schema';

const route = createRoute({
  method: 'post',
  path: '/v1/chat/completions',
  summary: 'Answer a conversation, as OpenAI chat completions do',
  request: { body: bodyOf(chatRequestSchema) },
  responses: {
    200: jsonOrEventsOf(chatCompletionSchema, 'The answer; with stream, chunks of it'),
    ...refusals,
  },
});

/** https://platform.openai.com/docs/api-reference/chat */
export function addChat(app: App, gateway: Gateway): void {
  app.openapi(route, async (c) => {
    const body = c.req.valid('json');
    const asked = askedOfChat(body, c.req.header(IGNORE_HEADER));
    const key = c.get('key');
    const started = await startSolve(gateway, key, asked, await sentBy(c));
    const answered = { gateway, key, started };
    if (body.stream !== true) {
      const result = await waitForResult(answered, asked, c.req.raw.signal);
      return c.json(completionOf(result, asked), 200, headersOf(result));
    }
    const gone = new AbortController();
    const chunks = new Chunks(started.id, asked, body);
    const onGone = (): void => {
      gone.abort();
      void leave(answered, asked);
    };
    const frames = framesOf(followAnswer(answered, gone.signal), chunks);
    const failed = (error: unknown): string => chunks.error(asRefusal(error, gateway.say));
    const stream = { frames, nothing: () => chunks.of({}), failed, onGone };
    return streamEvents(c, stream, solveHeader(started.id));
  });
}

async function* framesOf(parts: AsyncIterable<AnswerPart>, chunks: Chunks): AsyncGenerator<string> {
  yield chunks.of({ role: 'assistant', content: '' });
  for await (const part of parts) {
    if (part.kind === 'progress') yield chunks.of({ reasoning_content: `${part.line}\n` });
    else if (part.kind === 'delta') yield chunks.of({ content: part.text });
    else if (part.kind === 'dropped') {
      yield chunks.error(givenUp(chunks.solveId));
      return;
    } else yield* chunks.end(part.result);
  }
}

/** Makes the chunks of one completion, each with the fields that clients cannot do without. */
class Chunks {
  readonly #base: object;

  constructor(
    readonly solveId: string,
    private readonly asked: Asked,
    private readonly body: Pick<ChatRequest, 'stream_options'>,
  ) {
    const [id, created] = [`chatcmpl-${solveId}`, Math.floor(Date.now() / 1000)];
    this.#base = { id, object: 'chat.completion.chunk', created, model: asked.model };
  }

  of(delta: object, finish: string | null = null): string {
    const choice = { index: 0, delta, finish_reason: finish, logprobs: null };
    return frameOf({ ...this.#base, choices: [choice] });
  }

  error(refusal: Refusal): string {
    return frameOf(toOpenAiError(refusal));
  }

  *end(result: SolveResult): Generator<string> {
    if (result.answer === null) {
      yield this.error(refusalOfRun(result));
      return;
    }
    yield this.of({}, finishOf(result));
    const conductor = noteOf(result, this.asked);
    if (this.body.stream_options?.include_usage === true) {
      yield frameOf({ ...this.#base, choices: [], usage: usageOf(result), conductor });
    }
    yield frameOf('[DONE]');
  }
}

function completionOf(result: SolveResult, asked: Asked): ChatCompletion {
  const { id, answer } = result;
  if (answer === null) throw refusalOfRun(result);
  return {
    id: `chatcmpl-${id}`,
    object: 'chat.completion',
    created: Math.floor(Date.now() / 1000),
    model: asked.model,
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: answer, refusal: null },
        finish_reason: finishOf(result),
        logprobs: null,
      },
    ],
    usage: usageOf(result),
    conductor: noteOf(result, asked),
  };
}

function finishOf(result: SolveResult): 'stop' | 'length' {
  return wasCut(result) ? 'length' : 'stop';
}

function usageOf(result: SolveResult): CompletionUsage {
  const { input, output, cached, reasoning, orchestrationInput, orchestrationOutput } = tokensOf(result);
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached, orchestration_tokens: orchestrationInput },
    completion_tokens_details: { reasoning_tokens: reasoning, orchestration_tokens: orchestrationOutput },
    ...costOf(result),
  };
}
