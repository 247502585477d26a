import { KNOWN, type Known, type NamedCause } from './known';
import { reportIn, type Said, saidIn } from './said';

/** Names of error types that a report without a status gives, with the status that such a type has. */
const NAMED_STATUSES: readonly (readonly [name: RegExp, status: number])[] = [
  [
    /^(?:invalid (?:request|argument|params?)|bad request|validation|unprocessable entity|unsupported \w{1,20}|invalid \w{1,20})(?: error| exception)?$/,
    400,
  ],
  [/^(?:authentication|unauthori[sz]ed|unauthenticated)(?: error)?$/, 401],
  [/^(?:billing|payment required)(?: error)?$/, 402],
  [/^(?:permission(?: denied)?|forbidden|access denied)(?: error)?$/, 403],
  [/^not found(?: error)?$/, 404],
  [/^(?:request )?(?:timeout|deadline exceeded)(?: error)?$/, 408],
  [/^(?:rate limit(?:ed)?|rate limit exceeded|too many requests|resource exhausted)(?: error)?$/, 429],
  [/^(?:unavailable|service unavailable)(?: error)?$/, 503],
];

/** Characters of the sentence that are searched, and clauses of it. */
const MOST_SEARCHED = 2000;
const MOST_CLAUSES = 40;

/** Returns the cause that a server names, or null if only its status tells. */
export function causeOf(said: Said, status: number | null): NamedCause | null {
  const codes = said.codes.map(inWords);
  const clauses = [...codes, ...clausesOf(said.sentence)];
  const fits = ({ status: statuses, code, says, unless }: Known): boolean =>
    (status === null || statuses === undefined || statuses.includes(status)) &&
    (code === undefined || codes.some((each) => code.test(each))) &&
    (says === undefined ||
      clauses.some((clause) => says.every((form) => form.test(clause)) && unless?.test(clause) !== true));
  return KNOWN.find(fits)?.cause ?? null;
}

/** Returns the status of the error type that a report names, or null. */
export function statusNamedIn({ status, codes }: Said): number | null {
  const words = codes.map(inWords);
  const [, named = null] = NAMED_STATUSES.find(([name]) => words.some((each) => name.test(each))) ?? [];
  return status ?? named;
}

/** `ResponsibleAIPolicyViolation`, `Throttling.RateQuota` and `api_key_invalid` as words in lower case. */
function inWords(code: string): string {
  return code
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .replace(/[_\W]{1,100}/g, ' ')
    .trim()
    .toLowerCase();
}

function clausesOf(sentence: string): string[] {
  const clauses = sentence
    .slice(0, MOST_SEARCHED)
    .toLowerCase()
    .split(/[.!?;]\s|[。！？；\n]/);
  return clauses.slice(0, MOST_CLAUSES).map((clause) => clause.replace(/[_"'`’-]/g, ' '));
}

/** Returns what a body or an event says if it is a failure and no answer; a text is one if it names a known cause. */
export function failureIn(body: unknown): Said | null {
  if (typeof body !== 'string') return reportIn(body);
  const said = saidIn(body);
  return causeOf(said, null) === null ? null : said;
}
