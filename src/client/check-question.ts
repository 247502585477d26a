import { expectationIn } from '../config/expectation';
import { ConductorError } from '../errors';
import { jsonBytes } from '../plan/plan';
import { type CallerTool, callerToolsSchema } from '../protocol/caller-tools';
import { type ConversationTurn, MAX_TURNS, type SolveInput } from '../protocol/input';
import { MAX_QUESTION_BYTES } from '../protocol/solve';
import { INLINE_BYTES, type Text } from '../protocol/text';
import type { Store } from '../store/store';
import { keepConversation } from '../store/conversations';
import { keepText } from '../store/texts';

export class BadQuestionError extends ConductorError {
  override readonly name = 'BadQuestionError';
  readonly code = 'BadQuestion';
}

/** A question, or a conversation whose last turn is one; and functions of the caller that models may ask for. */
export type AskedRequest = (
  | { readonly question: string; readonly messages?: undefined }
  | { readonly messages: readonly ConversationTurn[]; readonly question?: undefined }
) & {
  readonly tools?: readonly CallerTool[] | undefined;
  /** `last`: only the step that writes the answer may ask for them. @default every step */
  readonly toolSteps?: 'last' | undefined;
  /** `required`: the step that writes the answer asks for one first, if its model can be made to. @default it decides */
  readonly toolChoice?: 'required' | undefined;
};

/**
 * Returns the question of a request; called before anything is started.
 * @throws BadQuestionError for an empty question or turn, a conversation that does not end with one or has too many
 *   turns, or over 1 MiB
 */
export function checkAsked({ question, messages, tools }: AskedRequest): string {
  if (tools !== undefined) checkFunctions(tools);
  if (messages === undefined) return checkText('the question', question, question);
  const last = messages.at(-1);
  if (last?.role !== 'user') {
    const found = last === undefined ? 'has no turn' : `ends with a turn of role ${last.role}`;
    throw new BadQuestionError(`the conversation ${found}: end it with the question, a turn of role user`);
  }
  if (messages.length > MAX_TURNS) {
    const rule = `at most ${MAX_TURNS} are accepted: join short ones, or give those that matter`;
    throw new BadQuestionError(`the conversation has ${messages.length} turns; ${rule}`);
  }
  const isBlank = messages.findIndex(({ content, calls }) => calls === undefined && content.trim() === '');
  if (isBlank !== -1) {
    throw new BadQuestionError(`turn ${isBlank + 1} of the conversation is empty: leave it out`);
  }
  return checkText('the conversation', last.content, JSON.stringify(messages));
}

/** @throws BadQuestionError for functions that no vendor takes */
export function checkFunctions(tools: readonly CallerTool[]): void {
  const { error } = callerToolsSchema.safeParse(tools);
  const [issue] = error?.issues ?? [];
  if (issue === undefined) return;
  const place = ['tools', ...issue.path].join('.');
  throw new BadQuestionError(`${place}: ${expectationIn(issue)}`);
}

function checkText(what: string, question: string, all: string): string {
  if (question.trim() === '') {
    throw new BadQuestionError(`${what} is empty: give one with at least a word`);
  }
  const bytes = Buffer.byteLength(all);
  if (bytes <= MAX_QUESTION_BYTES) return question;
  const rule = `at most ${MAX_QUESTION_BYTES} are accepted: shorten it, or give the part that matters`;
  throw new BadQuestionError(`${what} has ${bytes} bytes; ${rule}`);
}

/** Keeps functions by reference, so that a run sees whether its caller brings others later. */
export function keepFunctions(store: Store, tools: readonly CallerTool[]): Promise<Text> {
  return keepText(store, JSON.stringify(tools), 0);
}

/** Moves what is long of a request to the store, each as one text, so that the input is short whatever was asked. */
export async function keepAsked(
  store: Store,
  request: AskedRequest,
): Promise<Pick<SolveInput, 'question' | 'messages' | 'conversation' | 'callerTools'>> {
  const { question, messages, tools } = request;
  const brought = tools && { callerTools: await callerToolsOf(store, tools, request) };
  if (messages === undefined) return { question: await keepText(store, question), ...brought };
  const hasCalls = messages.some(({ calls }) => calls !== undefined);
  if (!hasCalls && jsonBytes(messages) <= INLINE_BYTES) return { messages, ...brought };
  const before = messages.slice(0, -1);
  return {
    question: await keepText(store, messages.at(-1)?.content ?? ''),
    ...(before.length > 0 && { conversation: await keepConversation(store, before) }),
    ...brought,
  };
}

async function callerToolsOf(
  store: Store,
  tools: readonly CallerTool[],
  { toolSteps, toolChoice }: AskedRequest,
): Promise<SolveInput['callerTools']> {
  return {
    list: await keepFunctions(store, tools),
    names: tools.map(({ name }) => name),
    ...(toolSteps === 'last' && { lastStep: true }),
    ...(toolChoice === 'required' && { mustCall: true }),
  };
}
