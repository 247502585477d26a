/** What an error of the SDK may tell; by shape, since not every one of them is an `Error` of this realm. */
interface ErrorFacts {
  readonly name: string;
  readonly message: string;
  /** Of Node's network errors, e.g. `ECONNREFUSED`. */
  readonly code: string;
  readonly status: number;
}

interface Rule {
  readonly fits: (facts: ErrorFacts) => boolean;
  readonly say: (store: string, facts: ErrorFacts) => string;
}

/** Codes of Node. Where the SDK has wrapped an error, its code is found in the message alone. */
const NETWORK =
  /\b(ECONN[A-Z]+|EAI_[A-Z]+|ENOTFOUND|EHOSTUNREACH|ENETUNREACH|EPIPE|ETIMEDOUT|CERT_\w+|ERR_TLS\w+)\b/;

/** The first that fits. Codes: https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html */
const RULES: readonly Rule[] = [
  {
    fits: ({ name }) => name === 'NoSuchBucket',
    say: (store) =>
      `the bucket of ${store} does not exist: create it, or correct "store" in the configuration`,
  },
  {
    fits: ({ name }) => name === 'CredentialsProviderError',
    say: (store) =>
      `there are no credentials for ${store}: set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY`,
  },
  {
    fits: ({ message }) => /^Region (is missing|not accepted)/.test(message),
    say: (store) =>
      `there is no region for ${store}: set AWS_REGION; a server of another vendor mostly takes us-east-1`,
  },
  {
    fits: ({ name, status }) => name === 'AuthorizationHeaderMalformed' || status === 301,
    say: (store, { name }) =>
      `the bucket of ${store} lies in another region (${name}): set AWS_REGION to the bucket's own`,
  },
  {
    fits: ({ name, status }) => status === 401 || status === 403 || name === 'ExpiredToken',
    say: (store, { name }) =>
      `access to ${store} is denied (${name}): check AWS_PROFILE or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and that they ` +
      'allow s3:GetObject, s3:PutObject and s3:DeleteObject on its objects and s3:ListBucket on the bucket',
  },
  {
    fits: ({ name, code, message }) => NETWORK.test(`${code} ${message}`) || name === 'TimeoutError',
    say: (store, { code, message }) =>
      `the endpoint of ${store} cannot be reached (${NETWORK.exec(`${code} ${message}`)?.[0] ?? message}): check AWS_ENDPOINT_URL_S3, AWS_REGION and the network`,
  },
];

/** The sentence for whatever the SDK threw about a store: what happened, in which bucket, what to do. */
export function explainS3(error: unknown, store: string): Error {
  const facts = factsOf(error);
  const rule = RULES.find(({ fits }) => fits(facts));
  const { name, message } = facts;
  return new Error(
    rule?.say(store, facts) ??
      `${store} failed with ${name}: ${message}; look at the state of the service, and try again later`,
  );
}

/** Whether the store answered that there is no such object; a HEAD request has no body that could tell more. */
export function isMissing(error: unknown): boolean {
  return ['NoSuchKey', 'NotFound'].includes(factsOf(error).name);
}

function factsOf(error: unknown): ErrorFacts {
  const { name, message, code, $metadata } = Object(error) as Readonly<Record<string, unknown>>;
  const { httpStatusCode } = Object($metadata) as Readonly<Record<string, unknown>>;
  return {
    name: typeof name === 'string' ? name : 'Error',
    message: typeof message === 'string' ? message : String(error),
    code: typeof code === 'string' ? code : '',
    status: Number(httpStatusCode ?? 0),
  };
}
