import { createRoute } from '@hono/zod-openapi';
import type { SolveResult } from '../../protocol/solve';
import { type Asked, IGNORE_HEADER } from '../solve/asked';
import { frameOf } from '../event-stream';
import type { AnswerPart } from '../solve/follow-answer';
import type { App, Gateway } from '../gateway';
import { noteOf } from '../solve/note';
import { givenUp, type Refusal, refusalOfRun, toOpenAiError } from '../refusal';
import { bodyOf, jsonOrEventsOf, refusals } from '../routes';
import { costOf, tokensOf, wasCut } from '../solve/usage';
import { answer, type Pieces } from './answer';
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
  summary: "Answer a conversation in the format of OpenAI's chat completions",
  request: { body: bodyOf(chatRequestSchema) },
  responses: {
    200: jsonOrEventsOf(chatCompletionSchema, 'The answer; with `stream`, its chunks'),
    ...refusals,
  },
});

/** https://platform.openai.com/docs/api-reference/chat */
export function addChat(app: App, gateway: Gateway): void {
  app.openapi(route, (c) => {
    const body = c.req.valid('json');
    const asked = askedOfChat(body, c.req.header(IGNORE_HEADER));
    return answer(c, gateway, asked, {
      whole: (result) => completionOf(result, asked),
      pieces: body.stream === true ? (id) => new Chunks(id, asked, body) : null,
    });
  });
}

/** Makes the chunks of one completion, each with the fields that clients require. */
class Chunks implements Pieces {
  readonly #base: object;

  constructor(
    private readonly solveId: string,
    private readonly asked: Asked,
    private readonly body: Pick<ChatRequest, 'stream_options'>,
  ) {
    const [id, created] = [`chatcmpl-${solveId}`, Math.floor(Date.now() / 1000)];
    this.#base = { id, object: 'chat.completion.chunk', created, model: asked.model };
  }

  async *frames(parts: AsyncIterable<AnswerPart>): AsyncGenerator<string> {
    yield this.of({ role: 'assistant', content: '' });
    for await (const part of parts) {
      if (part.kind === 'progress') yield this.of({ reasoning_content: `${part.line}\n` });
      else if (part.kind === 'delta') yield this.of({ content: part.text });
      else if (part.kind === 'dropped') {
        yield this.error(givenUp(this.solveId));
        return;
      } else yield* this.end(part.result);
    }
  }

  nothing(): string {
    return this.of({});
  }

  error(refusal: Refusal): string {
    return frameOf(toOpenAiError(refusal));
  }

  private of(delta: object, finish: string | null = null): string {
    const choice = { index: 0, delta, finish_reason: finish, logprobs: null };
    return frameOf({ ...this.#base, choices: [choice] });
  }

  private *end(result: SolveResult): Generator<string> {
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
