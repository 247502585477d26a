/** What every thrown error has, whichever realm or copy of a library made its class. */
export interface ErrorLike {
  readonly name: string;
  readonly message: string;
  readonly cause?: unknown;
}

/** Tells errors by shape: `instanceof` fails between realms, and fetch's errors come from another than a test's. */
export function isErrorLike(value: unknown): value is ErrorLike {
  return (
    typeof value === 'object' &&
    value !== null &&
    'name' in value &&
    typeof value.name === 'string' &&
    'message' in value &&
    typeof value.message === 'string'
  );
}
