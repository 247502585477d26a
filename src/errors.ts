/** Base of our errors, told apart by a `code` that stays the same from version to version. */
export abstract class ConductorError extends Error {
  abstract readonly code: string;
}

/** A command that cannot be carried out as it was given; nothing was started. */
export class UsageError extends ConductorError {
  override readonly name = 'UsageError';
  readonly code = 'Usage';
}

/** Message of an error, to quote in a sentence of ours. */
export function reasonOf(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('message' in error)) return String(error);
  return String(error.message).trim();
}

export function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}

/** Facts of an error, by its shape: errors of other realms (jest, vm) and SDKs share no class with ours. */
interface ErrorFacts {
  readonly code: string;
  /** The status of an HTTP response; 0 where there was none. */
  readonly status: number;
  readonly reason: string;
  /** All of them: `CODE STATUS REASON`, or `CODE REASON`. */
  readonly text: string;
}

/** A pattern over the text of an error's facts, and the sentence on what it finds: what happened to `place`, then what to do. */
export type Rule = readonly [fits: RegExp, sentence: (place: string, facts: ErrorFacts) => string];

export function factsOf(error: unknown): ErrorFacts {
  const { name, code, message, $metadata } = Object(error) as Readonly<Record<string, unknown>>;
  const { httpStatusCode } = Object($metadata) as Readonly<Record<string, unknown>>;
  const [own = 'Error'] = [code, name].filter((each) => typeof each === 'string').filter(Boolean);
  const [short, status] = [own.slice(0, 100), Number(httpStatusCode ?? 0)];
  // A host with several addresses, all of which failed, gives a code alone.
  const reason = (typeof message === 'string' ? message : String(error)).slice(0, 300) || short;
  return { code: short, status, reason, text: `${short} ${status === 0 ? '' : `${status} `}${reason}` };
}

/** Puts an error into one sentence, by the first rule that fits. */
export function explain(error: unknown, rules: readonly Rule[], place: string): Error {
  const facts = factsOf(error);
  const sentence = rules.find(([fits]) => fits.test(facts.text))?.[1](place, facts);
  const unknown = `${place} failed with ${facts.code}: ${facts.reason}; look at its server or disk, and try again later`;
  return new Error(sentence ?? unknown, { cause: error });
}

/** Sentence on optional peer dependencies that cannot be loaded, with the reason if it is worth saying. */
export function needsPackages(what: string, packages: readonly string[], reason?: string): string {
  const sentence = `${what} needs a package: run "npm install ${packages.join(' ')}"`;
  return reason === undefined ? sentence : `${sentence} (${reason})`;
}
