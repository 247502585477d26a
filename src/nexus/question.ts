import { HandlerError } from 'nexus-rpc';
import { z } from 'zod';
import type { AskedRequest } from '../client';
import { explainSent } from '../config/errors';
import { resolveRun } from '../config/resolve-run';
import type { Config } from '../config/schema';
import { conversationTurnSchema, MAX_TURNS, solveInputSchema } from '../protocol/input';
import type { NexusQuestion } from './contract';

const { answerSchema, conductor, limits, maxAnswerTokens, pool, priority, seed, tenant } =
  solveInputSchema.shape;

const questionSchema = z.strictObject({
  question: z.string().optional(),
  messages: z.array(conversationTurnSchema).max(MAX_TURNS).optional(),
  key: z.string().min(1).max(200).optional(),
  answerSchema,
  conductor,
  limits,
  maxAnswerTokens,
  pool,
  priority,
  seed,
  tenant,
});

/** A question as it is asked of `ConductorClient`, under the name that its caller gives it. */
type AskedQuestion = Omit<NexusQuestion, 'question' | 'messages'> & AskedRequest;

const nameSchema = z.strictObject({
  id: z.string().min(1).max(1_000).optional(),
  key: questionSchema.shape.key,
});

/** Reads by what a caller names a solve: its id, or its key. @throws HandlerError */
export function readNexusName(sent: unknown): { readonly id: string } | { readonly key: string } {
  const { id, key } = read(nameSchema, sent);
  if (id !== undefined && key === undefined) return { id };
  if (key !== undefined && id === undefined) return { key };
  throw new HandlerError('BAD_REQUEST', 'input: expected the id of a solve, or its key in its place');
}

function read<Schema extends z.ZodType>(schema: Schema, sent: unknown): z.output<Schema> {
  const { success, data, error } = schema.safeParse(sent);
  if (success) return data;
  throw new HandlerError('BAD_REQUEST', explainSent(error, sent, 'input'));
}

/** Reads what a caller sent. @throws HandlerError */
export function readNexusQuestion(sent: unknown): AskedQuestion {
  const data = read(questionSchema, sent);
  const { question, messages, ...rest } = data;
  if (question !== undefined && messages === undefined) return { ...rest, question };
  if (messages !== undefined && question === undefined) return { ...rest, messages };
  throw new HandlerError('BAD_REQUEST', 'input: expected a question, or messages in its place');
}

/** Durations in Nexus's headers (https://github.com/nexus-rpc/api/blob/main/SPEC.md). */
const TIMEOUT = /^(\d{1,15}(?:\.\d{1,9})?)(ms|s|m)$/;
const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000 };

/** Returns limits under which a solve ends before its caller gives up. @param timeout header `operation-timeout` */
export function limitsWithin(
  config: Config,
  asked: AskedQuestion['limits'],
  timeout: string | undefined,
): AskedQuestion['limits'] {
  const [, amount, unit = ''] = TIMEOUT.exec(timeout ?? '') ?? [];
  if (amount === undefined) return asked;
  // A solve takes a second at least: see `isDuration`.
  const mostMs = Math.max(1000, Math.floor(Number(amount) * (UNIT_MS[unit] ?? 1)));
  const { wallClockMs } = resolveRun(config, { limits: asked }).limits;
  return mostMs >= wallClockMs ? asked : { ...asked, wallClock: `${mostMs}ms` };
}
