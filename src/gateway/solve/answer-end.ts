import { z } from 'zod';
import type { CallerCall } from '../../client';
import { MAX_WALL_CLOCK_MS } from '../../protocol/messages';
import type { SolveResult } from '../../protocol/solve';
import { bytesOf, readRecord } from '../../store/records';
import type { Store } from '../../store/store';
import type { Gateway } from '../gateway';
import { type SpentAmounts, spentIn } from './facts';

// A solve that asks for functions of its caller has several answers. Each states what was spent since the one before.

/** How an answer ended. */
export interface EndFacts {
  /** The solve at that time. */
  readonly result: SolveResult;
  /** Calls whose results the solve waits for; none: it is over. */
  readonly calls: readonly CallerCall[];
  /** What was spent since the answer before. */
  readonly spent: SpentAmounts;
}

/** Which of a solve's answers it is. */
export interface AnswerPlace {
  /** The solve. */
  readonly id: string;
  /** The call whose result it begins with; absent for the first answer. */
  readonly call?: string | undefined;
}

type Sources = Pick<Gateway, 'conductor' | 'store'>;

/** Ends an answer with its solve. */
export async function endWithSolve(
  { store }: Pick<Sources, 'store'>,
  { call }: AnswerPlace,
  result: SolveResult,
): Promise<EndFacts> {
  return { result, calls: [], spent: await spentSince(store, call, result) };
}

/** Ends an answer with calls that wait. @param isSerial tells only the first of them: the others come later */
export async function endWithCalls(
  { conductor, store }: Sources,
  { id, call }: AnswerPlace,
  waiting: readonly CallerCall[],
  isSerial: boolean,
): Promise<EndFacts> {
  const result = await conductor.trace(id);
  const spent = await spentSince(store, call, result);
  const bytes = bytesOf(spentIn(result));
  for (const each of waiting) await store.create(placeOf(each.id), bytes);
  return { result, calls: isSerial ? waiting.slice(0, 1) : waiting, spent };
}

/** What a solve had spent when its caller was told of a call, by the call's id; kept while its result may come. */
export const SPENDINGS = { folder: 'gateway/spendings/', lifeMs: MAX_WALL_CLOCK_MS };

const placeOf = (call: string): string => `${SPENDINGS.folder}${call}.json`;

const spentSchema: z.ZodType<SpentAmounts> = z.object({
  input: z.number(),
  output: z.number(),
  cached: z.number(),
  cacheWritten: z.number(),
  reasoning: z.number(),
  orchestrationInput: z.number(),
  orchestrationOutput: z.number(),
  nanoUsd: z.number(),
  isLowerBound: z.boolean(),
});

async function spentSince(
  store: Store,
  call: string | undefined,
  result: SolveResult,
): Promise<SpentAmounts> {
  const all = spentIn(result);
  const before = call === undefined ? null : await readRecord(store, placeOf(call), spentSchema);
  if (before === null) return all;
  const since = (name: Exclude<keyof SpentAmounts, 'isLowerBound'>): number =>
    Math.max(0, all[name] - before[name]);
  return {
    input: since('input'),
    output: since('output'),
    cached: since('cached'),
    cacheWritten: since('cacheWritten'),
    reasoning: since('reasoning'),
    orchestrationInput: since('orchestrationInput'),
    orchestrationOutput: since('orchestrationOutput'),
    nanoUsd: since('nanoUsd'),
    isLowerBound: all.isLowerBound,
  };
}
