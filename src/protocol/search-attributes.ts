import { defineSearchAttributeKey, SearchAttributeType, TypedSearchAttributes } from '@temporalio/common';

/**
 * What runs can be found by, and Temporal's search attribute for each, of type Keyword. The server keeps them readable,
 * whatever encrypts payloads, so none holds a secret or a text.
 */
export const SEARCH_ATTRIBUTES = {
  /** Owner of the run, as the request names it. */
  tenant: 'ConductorTenant',
  /** Name of the gateway's key that asked. */
  key: 'ConductorKey',
  /** Model that was asked for, as clients of the gateway name it, e.g. `conductor` or `worker/coder`. */
  model: 'ConductorModel',
} as const;

export type Criterion = keyof typeof SEARCH_ATTRIBUTES;

/** Values that runs have, or are sought by; they must all be met. */
export type RunCriteria = Readonly<Partial<Record<Criterion, string | undefined>>>;

export const CRITERIA = Object.keys(SEARCH_ATTRIBUTES) as readonly Criterion[];

/** Attributes that runs are given: all, or those of these names. */
export type AttributesSetting = true | readonly (typeof SEARCH_ATTRIBUTES)[Criterion][];

/** Returns by what runs can be found that were started with a setting. */
export function criteriaIn(setting: AttributesSetting | undefined): readonly Criterion[] {
  if (setting === undefined) return [];
  return CRITERIA.filter((each) => setting === true || setting.includes(SEARCH_ATTRIBUTES[each]));
}

/** Most characters of a value: databases of Temporal keep no more of a Keyword. */
const MOST_CHARACTERS = 255;

/** Characters with which Temporal's queries miss values in some of its databases, however they are quoted. */
const UNFINDABLE = /['"\\%\p{Cc}]/gu;

/** Returns a value as the server keeps it: what it could not find is written as in URLs, e.g. `%27` for `'`. */
function toKeyword(value: string): string {
  const escaped = value.replace(UNFINDABLE, (sign) => `%${sign.charCodeAt(0).toString(16).padStart(2, '0')}`);
  return escaped.slice(0, MOST_CHARACTERS);
}

/** Returns the attributes for these values. */
export function attributesOf(values: RunCriteria, criteria = CRITERIA): TypedSearchAttributes {
  return new TypedSearchAttributes(pairsOf(values, criteria));
}

/** Whether a run has these values. */
export function meets(attributes: TypedSearchAttributes, wanted: RunCriteria): boolean {
  return pairsOf(wanted).every(({ key, value }) => attributes.get(key) === value);
}

const keywordOf = (each: Criterion) =>
  defineSearchAttributeKey(SEARCH_ATTRIBUTES[each], SearchAttributeType.KEYWORD);

interface Keyword {
  readonly key: ReturnType<typeof keywordOf>;
  readonly value: string;
}

/** Returns the attributes for these values, as `attributesOf`, one by one. */
export function pairsOf(values: RunCriteria, criteria = CRITERIA): Keyword[] {
  return criteria.flatMap((each) => {
    const value = values[each];
    return value === undefined ? [] : [{ key: keywordOf(each), value: toKeyword(value) }];
  });
}
