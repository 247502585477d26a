import { unlessNotFound } from '../../client';
import { MAX_WALL_CLOCK_MS } from '../../protocol/messages';
import { bytesOf, readRecord } from '../../store/records';
import type { Key } from '../access/keys';
import type { Gateway } from '../gateway';
import { Refusal } from '../refusal';
import { type AnswerPlace } from '../solve/answer-end';
import { booking, mayTouch } from '../solve/start-solve';
import type { FoundResponse } from './response-stream';
import { type ResponseNotes, notesSchema } from './responses-schema';

/** Notes of responses that begin with results; those of the first one of a solve are in its memo. */
export const RESPONSE_NOTES = { folder: 'gateway/responses/', lifeMs: MAX_WALL_CLOCK_MS };

const placeOf = (id: string): string => `${RESPONSE_NOTES.folder}${id}.json`;

/** Keeps the notes of a response that begins with results; the first of one stay. */
export async function keepNotes(
  { store }: Pick<Gateway, 'store'>,
  { id, solve }: { readonly id: string; readonly solve: AnswerPlace },
  notes: ResponseNotes,
): Promise<void> {
  if (solve.call !== undefined) await store.create(placeOf(id), bytesOf(notes));
}

/** Id of a response: OpenAI's prefix, the id of its solve and, unless it is the first, the call it begins with. */
const RESPONSE_ID = /^resp_([\w-]{1,200}?)(?:_(cdr_[A-Za-z0-9]{20}))?$/;

/** @throws Refusal if the response does not exist or belongs to another key */
export async function findResponse(gateway: Gateway, key: Key, responseId: string): Promise<FoundResponse> {
  const [, id, call] = RESPONSE_ID.exec(responseId) ?? [];
  const found = id !== undefined && mayTouch(key, id) ? await findOwn(gateway, key, { id, call }) : null;
  if (found !== null) return found;
  const shown = JSON.stringify(responseId.slice(0, 100));
  const remedy = 'send the id as it was returned, with the key that asked for it';
  const message = `this key has no response ${shown}: it may have expired, as Temporal keeps no run for ever; else ${remedy}`;
  throw new Refusal(404, message, { reason: 'response_not_found' });
}

async function findOwn(gateway: Gateway, key: Key, { id, call }: AnswerPlace): Promise<FoundResponse | null> {
  const attached = await unlessNotFound(gateway.conductor.attach(id));
  const first = notesSchema.safeParse(attached?.memo.response).data;
  if (attached === null || first === undefined) return null;
  const solve = booking(gateway, key, attached);
  if (call === undefined) return { id, place: { id }, notes: first, solve };
  const told = await gateway.conductor.findCall(call);
  if (told?.root !== id) return null;
  const own = `${id}_${call}`;
  const notes = (await readRecord(gateway.store, placeOf(own), notesSchema)) ?? first;
  return { id: own, place: { id, call }, after: told.cursor, notes, solve };
}
