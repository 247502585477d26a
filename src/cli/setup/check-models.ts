import {
  diagnose,
  type ListModels,
  MODEL_LISTS,
  redact,
  UNCALLABLE,
  UNREACHED,
} from '../../activities/models';
import { VENDORS } from '../../config/cards';
import { closeTo } from '../../config/errors';
import { briefly, quoteBriefly } from '../../plan/plan-error';
import type { CalledCard } from '../../protocol/cards';
import { FAILURES } from '../../protocol/failures';
import { broken, fine, type Looked, note } from '../kit/finding';

const ANSWER_MS = 10_000;

/** Most listed models that are compared. */
const MOST_LISTED = 2_000;
const MOST_NAMED = 5;

/** Asks each server for its list of models, which is free, with the run's key if that may be sent there. */
export async function checkModels(
  cards: readonly CalledCard[],
  mayAsk: (card: CalledCard) => boolean,
): Promise<Looked[]> {
  const places = new Map<string, ModelListing>();
  for (const card of cards) {
    const list = MODEL_LISTS[card.provider];
    if (list === undefined) continue;
    const id = JSON.stringify([card.provider, card.baseUrl, card.proxy, card.apiKeyEnv]);
    const { models } = places.get(id) ?? { models: new Set<string>() };
    places.set(id, { card, list, models: models.add(card.model) });
  }
  if (places.size === 0) return [];
  const found = await Promise.all(Array.from(places.values(), (place) => checkPlace(place, mayAsk)));
  return [...found.flat(), note('"temporal-conductor pool check" makes one tiny paid call to each model')];
}

interface ModelListing {
  readonly card: CalledCard;
  readonly list: ListModels;
  readonly models: Set<string>;
}

async function checkPlace(
  { card, list, models }: ModelListing,
  mayAsk: (card: CalledCard) => boolean,
): Promise<Looked[]> {
  const { apiKeyEnv } = card;
  const where = addressOf(card);
  const apiKey = apiKeyEnv === null ? null : (process.env[apiKeyEnv] ?? '');
  // A missing key is a finding of its own, reported by `doctor`.
  if (apiKey === '') return [];
  if (!mayAsk(card)) return [note(`${where} was not asked: its key is not trusted to go there`)];
  const signal = AbortSignal.timeout(ANSWER_MS);
  try {
    const listed = (await list({ card, apiKey, signal })).slice(0, MOST_LISTED);
    if (listed.length === 0) return [fine(`${where} answers, and names no models`)];
    const missing = [...models].filter((model) => !listed.some((id) => isOf(model, id)));
    if (missing.length === 0) return [fine(`${where} has ${[...models].join(', ')}`)];
    return missing.map((model) => broken(`${where} ${describeMissing(model, listed)}`));
  } catch (error) {
    if (signal.aborted) return [broken(`${where} gave no answer within ${ANSWER_MS / 1000} s`)];
    return [explain(where, apiKeyEnv, error, apiKey)];
  }
}

/** Returns where a card's requests go. */
export function addressOf({ provider, baseUrl }: CalledCard): string {
  return baseUrl ?? (provider in VENDORS ? VENDORS[provider as keyof typeof VENDORS].endpoint : provider);
}

/** Returns whether a listed id is the model: a vendor may list a dated one (`name-20261010`), Ollama `name:latest`. */
function isOf(model: string, listed: string): boolean {
  const name = model.replace(/^models\//, '');
  return listed === name || /^[-:@]/.test(listed.startsWith(name) ? listed.slice(name.length) : '');
}

function describeMissing(model: string, listed: readonly string[]): string {
  const near = closeTo(model, listed);
  const [relation, names] = near.length > 0 ? ['near it', near] : ['among those that it has', listed];
  const shown = names.slice(0, MOST_NAMED).map(briefly).join(', ');
  return `does not list ${quoteBriefly(model)}; ${relation}: ${shown}`;
}

function explain(where: string, apiKeyEnv: string | null, error: unknown, apiKey: string | null): Looked {
  const { type, happened, reason: words, remedy } = diagnose(error);
  const reason = redact(words, apiKey);
  const told = tell(`${where} ${happened}`, reason);
  if (isHeldBack(happened, remedy)) return broken(`${told}: ${remedy.replace(/\.$/, '')}`);
  // OpenAI's restricted keys may be allowed to make calls but not to read the list.
  if (happened === 'answered 403' && /scope|permission/i.test(reason)) {
    return note(`${told}: the key may not read the list of models`);
  }
  switch (type) {
    case FAILURES.authentication:
      return broken(
        `${told}: ${apiKeyEnv === null ? 'add apiKeyEnv' : `the key in ${apiKeyEnv} is refused`}`,
      );
    case FAILURES.notFound:
    case FAILURES.badRequest:
    case FAILURES.badResponse:
      return note(`${told} when asked for its list of models: check baseUrl, if runs fail as well`);
    case FAILURES.rateLimited:
      return note(told);
    default:
      return broken(`${told}: check that it runs, and baseUrl`);
  }
}

/** Whether the request was never sent on, by a proxy or by ourselves, for which there is a remedy of its own. */
function isHeldBack(happened: string, remedy: string | undefined): remedy is string {
  return (happened === UNREACHED || happened === UNCALLABLE) && remedy !== undefined;
}

function tell(what: string, reason: string): string {
  return reason === '' ? what : `${what} (${reason})`;
}
