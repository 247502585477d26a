/** Base of our errors, which differ by a `code` that stays the same across versions. */
export abstract class ConductorError extends Error {
  abstract readonly code: string;
}

/** Thrown for a command that cannot be run as given, before anything starts. */
export class UsageError extends ConductorError {
  override readonly name = 'UsageError';
  readonly code = 'Usage';
}

/** Returns the message of an error, to quote in one of our sentences. */
export function reasonOf(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('message' in error)) return String(error);
  const { name, message, cause } = error as Partial<Error>;
  const own = String(message).trim();
  // Temporal's client says only what failed, e.g. "Failed to start Workflow".
  return name === 'ServiceError' && cause !== undefined ? `${own}: ${reasonOf(cause)}` : own;
}

export function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}

/** Facts of an error, read by shape: errors of other realms (jest, vm) and SDKs share no class with ours. */
interface ErrorFacts {
  readonly code: string;
  /** HTTP status, or 0 if there was no response. */
  readonly status: number;
  readonly reason: string;
  /** All facts in one text: `CODE STATUS REASON`, or `CODE REASON` without a status. */
  readonly text: string;
}

/** Pattern for the text of an error's facts, and the sentence to show: what happened to `place`, then what to do. */
export type ErrorRule = readonly [fits: RegExp, sentence: (place: string, facts: ErrorFacts) => string];

export function errorFactsOf(error: unknown): ErrorFacts {
  const { name, code, message, $metadata } = Object(error) as Readonly<Record<string, unknown>>;
  const { httpStatusCode } = Object($metadata) as Readonly<Record<string, unknown>>;
  const [own = 'Error'] = [code, name].filter((each) => typeof each === 'string').filter(Boolean);
  const [short, status] = [own.slice(0, 100), Number(httpStatusCode ?? 0)];
  // The error has a code but no message if every address of a host failed.
  const reason = (typeof message === 'string' ? message : String(error)).slice(0, 300) || short;
  return { code: short, status, reason, text: `${short} ${status === 0 ? '' : `${status} `}${reason}` };
}

/** Explains an error in one sentence, by the first rule that matches. */
export function explain(error: unknown, rules: readonly ErrorRule[], place: string): Error {
  const facts = errorFactsOf(error);
  const sentence = rules.find(([fits]) => fits.test(facts.text))?.[1](place, facts);
  const unknown = `${place} failed with ${facts.code}: ${facts.reason}; look at its server or disk, and try again later`;
  return new Error(sentence ?? unknown, { cause: error });
}

/** Returns a sentence on optional peer dependencies that cannot be loaded, with the reason if one is given. */
export function needsPackages(what: string, packages: readonly string[], reason?: string): string {
  const sentence = `${what} needs a package: run "npm install ${packages.join(' ')}"`;
  return reason === undefined ? sentence : `${sentence} (${reason})`;
}
