type ErrorFacts = ReturnType<typeof factsOf>;

/** Codes of Node. Where the SDK has wrapped an error, only the message holds its code. */
const NETWORK =
  /\b(?:ECONN[A-Z]{1,20}|EAI_[A-Z]{1,20}|ENOTFOUND|EHOSTUNREACH|ENETUNREACH|EPIPE|ETIMEDOUT|CERT_\w{1,40}|ERR_TLS\w{1,40})\b/;

type Rule = readonly [
  fits: (facts: ErrorFacts) => boolean,
  say: (store: string, facts: ErrorFacts) => string,
];

/** The first that fits. Codes: https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html */
const RULES: readonly Rule[] = [
  [
    ({ name }) => name === 'NoSuchBucket',
    (store) => `the bucket of ${store} does not exist: create it, or correct "store" in the configuration`,
  ],
  [
    ({ name }) => name === 'CredentialsProviderError',
    (store) =>
      `there are no credentials for ${store}: set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY`,
  ],
  [
    ({ message }) => /^Region (is missing|not accepted)/.test(message),
    (store) =>
      `there is no region for ${store}: set AWS_REGION; a server of another vendor mostly takes us-east-1`,
  ],
  [
    ({ name, status }) => name === 'AuthorizationHeaderMalformed' || status === 301,
    (store, { name }) =>
      `the bucket of ${store} lies in another region (${name}): set AWS_REGION to the bucket's own`,
  ],
  [
    ({ name, message }) => name === 'RequestTimeTooSkewed' || message.includes('request time'),
    (store) => `the clock of this machine is not that of the server of ${store}: set it right`,
  ],
  [
    isDeniedBy,
    (store, { name }) =>
      `access to ${store} is denied (${name}): check AWS_PROFILE or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and that they ` +
      'allow s3:GetObject, s3:PutObject and s3:DeleteObject on its objects and s3:ListBucket on the bucket',
  ],
  [
    ({ name, code, message }) => NETWORK.test(`${code} ${message}`) || name === 'TimeoutError',
    (store, { code, message }) =>
      `the endpoint of ${store} cannot be reached (${NETWORK.exec(`${code} ${message}`)?.[0] ?? message}): check AWS_ENDPOINT_URL_S3, AWS_REGION and the network`,
  ],
];

/** An error of the SDK in one sentence: what happened, in which bucket, what to do. */
export function explainS3(error: unknown, store: string): Error {
  const facts = factsOf(error);
  const [, say] = RULES.find(([fits]) => fits(facts)) ?? [];
  const { name, message } = facts;
  return new Error(
    say?.(store, facts) ??
      `${store} failed with ${name}: ${message}; look at the state of the service, and try again later`,
  );
}

/** Not every server states 403. */
function isDeniedBy({ name, status }: ErrorFacts): boolean {
  return (
    status === 401 || status === 403 || /^(?:ExpiredToken|AccessDenied|RequestTimeTooSkewed)$/.test(name)
  );
}

export function isDenied(error: unknown): boolean {
  return isDeniedBy(factsOf(error));
}

export function isNoBucket(error: unknown): boolean {
  return factsOf(error).name === 'NoSuchBucket';
}

export function isMissing(error: unknown): boolean {
  return ['NoSuchKey', 'NotFound'].includes(factsOf(error).name);
}

/** Of its HTTP response; 0 where there was none. */
export function statusOf(error: unknown): number {
  return factsOf(error).status;
}

/** By shape, since not every error of the SDK is an `Error` of this realm. */
function factsOf(error: unknown): { name: string; message: string; code: string; status: number } {
  const { name, message, code, $metadata } = Object(error) as Readonly<Record<string, unknown>>;
  const { httpStatusCode } = Object($metadata) as Readonly<Record<string, unknown>>;
  return {
    name: typeof name === 'string' ? name.slice(0, 100) : 'Error',
    message: (typeof message === 'string' ? message : String(error)).slice(0, 300),
    code: typeof code === 'string' ? code.slice(0, 50) : '',
    status: Number(httpStatusCode ?? 0),
  };
}
