import type { z } from 'zod';

/** Kinds of values, in the words of who writes a configuration or a request. */
const KINDS: Readonly<Record<string, string>> = {
  array: 'a list',
  boolean: 'true or false',
  int: 'a whole number',
  never: 'nothing here',
  nonoptional: 'a value',
  number: 'a number',
  object: 'an object',
  record: 'an object',
  string: 'a text',
  tuple: 'a list',
  undefined: 'nothing here',
};

/** Units by what zod measures, for one and for more. */
const UNITS: Readonly<Record<string, readonly [one: string, more: string]>> = {
  array: [' entry', ' entries'],
  string: [' character', ' characters'],
};

/** Forms of texts that zod knows by name. */
const FORMS: Readonly<Record<string, string>> = {
  base64: 'a text in base64',
  date: 'a date such as 2026-11-21',
  datetime: 'a time such as 2026-11-21T03:30:00Z',
  email: 'an e-mail address',
  url: 'an address',
  uuid: 'a UUID',
};

type Issue = z.core.$ZodIssue;

/** Sentences by the code of an issue. */
const SENTENCES: {
  readonly [Code in Issue['code']]: (issue: Extract<Issue, { readonly code: Code }>) => string;
} = {
  invalid_type: ({ expected }) => `expected ${KINDS[expected] ?? expected}`,
  invalid_value: ({ values }) => `expected ${choiceOf(values.map(String))}`,
  invalid_format: ({ format, pattern }) =>
    `expected ${FORMS[format] ?? `a text that fits ${pattern ?? format}`}`,
  invalid_union: (issue) => expectationOfAny(issue),
  invalid_key: ({ path, issues: [first] }) =>
    `${String(path.at(-1))}: ${first ? expectationIn(first) : OTHER}`,
  invalid_element: ({ issues: [first] }) => (first ? expectationIn(first) : OTHER),
  not_multiple_of: ({ divisor }) => `expected a multiple of ${divisor}`,
  too_small: (issue) => `expected ${boundOf(['more than', 'at least'], issue, issue.minimum)}`,
  too_big: (issue) => `expected ${boundOf(['less than', 'at most'], issue, issue.maximum)}`,
  unrecognized_keys: ({ keys }) => `expected no ${keys.join(', ')}: remove or rename`,
  custom: () => OTHER,
};

const OTHER = 'expected another value';

/** Says in plain words what a schema expects. A schema's own sentence is kept, zod's is replaced. */
export function expectationIn(issue: Issue): string {
  if (!/^(Invalid|Too|Unrecognized)\b/.test(issue.message)) return issue.message;
  return (SENTENCES[issue.code] as (issue: Issue) => string)(issue);
}

function choiceOf(values: readonly string[]): string {
  return `${values.length === 1 ? '' : 'one of '}${values.join(', ')}`;
}

function boundOf(
  [exclusive, inclusive]: readonly [string, string],
  issue: { readonly origin: string; readonly inclusive?: boolean | undefined },
  bound: number | bigint,
): string {
  const unit = UNITS[issue.origin]?.[Number(bound) === 1 ? 0 : 1] ?? '';
  return `${issue.inclusive === false ? exclusive : inclusive} ${bound}${unit}`;
}

/** Joins what the forms of a union expect; what is wrong within one of them says more than that. */
function expectationOfAny({ errors }: z.core.$ZodIssueInvalidUnion): string {
  const firsts = errors.flatMap(([first]) => first ?? []);
  const within = firsts.find(({ path }) => path.length > 0);
  if (within !== undefined) return `${within.path.join('.')}: ${expectationIn(within)}`;
  const kinds = firsts.map((issue) => expectationIn(issue).replace(/^expected /, ''));
  return kinds.length === 0 ? 'expected another form' : `expected ${anyOf(kinds)}`;
}

function anyOf(choices: readonly string[]): string {
  const different = [...new Set(choices)];
  const last = different.pop() ?? '';
  return different.length === 0 ? last : `${different.join(', ')} or ${last}`;
}
