import type { z } from 'zod';

/** Kinds of values, in the words of who writes a configuration or a request. */
const KINDS: Readonly<Record<string, string>> = {
  array: 'a list',
  boolean: 'true or false',
  int: 'a whole number',
  number: 'a number',
  object: 'an object',
  record: 'an object',
  string: 'a text',
};

/** Units by what zod measures. */
const UNITS: Readonly<Record<string, string>> = { array: ' entries', string: ' characters' };

/** Says in plain words what a schema expects. A schema's own sentence is kept, zod's is replaced. */
export function expectationIn(issue: z.core.$ZodIssue): string {
  if (!/^(Invalid|Too)\b/.test(issue.message)) return issue.message;
  switch (issue.code) {
    case 'invalid_type':
      return `expected ${KINDS[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `expected ${choiceOf(issue.values.map(String))}`;
    case 'too_small':
      return `expected ${boundOf(['more than', 'at least'], issue, issue.minimum)}`;
    case 'too_big':
      return `expected ${boundOf(['less than', 'at most'], issue, issue.maximum)}`;
    case 'invalid_union':
      return expectationOfAny(issue);
    default:
      return issue.message.replace(/^Invalid( \w+)?:? ?/, 'expected something else: ');
  }
}

function choiceOf(values: readonly string[]): string {
  return `${values.length === 1 ? '' : 'one of '}${values.join(', ')}`;
}

function boundOf(
  [exclusive, inclusive]: readonly [string, string],
  issue: { readonly origin: string; readonly inclusive?: boolean | undefined },
  bound: number | bigint,
): string {
  return `${issue.inclusive === false ? exclusive : inclusive} ${bound}${UNITS[issue.origin] ?? ''}`;
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
