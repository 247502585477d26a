import type { AnswerSchema } from '../../protocol/answer-schema';
import type { ConversationTurn } from '../../protocol/input';
import { type HandedResults, readAsked } from './asked-conversation';
import type { Utterance } from './request-calls';
import { checkFields, type Extension, type IgnoredFields, limitOf, readEffort } from './request-fields';
import { readForcedTool, readForm } from './request-form';
import { type CallerTools, readTools } from './request-tools';

/** A question as every surface passes it on, in the product's own terms. */
export interface SurfaceQuestion {
  readonly model: string;
  readonly messages: readonly ConversationTurn[];
  /** Results that a run of ours waits for: it goes on, and nothing is asked anew. */
  readonly handed?: HandedResults | undefined;
  readonly answerSchema?: AnswerSchema | undefined;
  /** Name of the caller's function that the answer is the input of. */
  readonly tool?: string | undefined;
  /** Functions of the caller that models may ask for. */
  readonly functions: CallerTools;
  readonly maxAnswerTokens?: number | undefined;
  readonly seed?: number | undefined;
  readonly effort?: string | undefined;
  readonly extension: Extension;
  /** Fields that are ignored, a sentence for each. */
  readonly warnings: readonly string[];
}

interface AskedFields {
  readonly model: string;
  readonly seed?: number | null | undefined;
  readonly conductor?: Extension | null | undefined;
}

interface Reading {
  readonly said: readonly Utterance[];
  /** The supported fields of the surface. */
  readonly taken: object;
  readonly maxTokens: number | null | undefined;
  readonly allowance: IgnoredFields;
}

/** Reads what a request asks for, by the rules that all surfaces share. @throws Refusal for what must not be ignored */
export function readQuestion(
  body: AskedFields & Readonly<Record<string, unknown>>,
  { said, taken, maxTokens, allowance }: Reading,
): SurfaceQuestion {
  const asked = readAsked(said);
  // A run that goes on keeps the form of its answer.
  const forced = asked.handed === undefined ? readForcedTool(body) : null;
  const functions = readTools(body, forced, allowance);
  checkFields(body, taken, allowance);
  return {
    model: body.model,
    ...asked,
    ...readForm(body, forced),
    functions,
    maxAnswerTokens: limitOf(maxTokens),
    seed: body.seed ?? undefined,
    effort: readEffort(body),
    extension: body.conductor ?? {},
    warnings: allowance.warnings,
  };
}
