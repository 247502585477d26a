import type * as Sdk from '@aws-sdk/client-s3';

/** The vendor's SDK, and one client of it. */
export interface S3Client {
  readonly sdk: typeof Sdk;
  readonly s3: Sdk.S3;
}

/**
 * Opens a client that is set up by AWS's own environment and profiles alone: region, credentials, endpoint, number of
 * attempts (https://docs.aws.amazon.com/sdkref/latest/guide/environment-variables.html).
 *
 * Throttling and failures of the server are left to the SDK's own retries. Temporal's are for what is billed or has
 * consequences; to read or write a content address once more has none, and whoever is nearest does it soonest.
 */
export async function openS3Client(env: NodeJS.ProcessEnv = process.env): Promise<S3Client> {
  const sdk = await importSdk();
  const s3 = new sdk.S3({
    // Servers of other vendors rarely have a host name for each bucket.
    forcePathStyle: Boolean(env.AWS_ENDPOINT_URL_S3 ?? env.AWS_ENDPOINT_URL),
    // The SDK's own default is to wait for ever.
    requestHandler: { connectionTimeout: 5_000, socketTimeout: 60_000 },
  });
  return { sdk, s3 };
}

/** Loaded when it is first needed: it is an optional peer dependency. */
async function importSdk(): Promise<typeof Sdk> {
  try {
    return await import('@aws-sdk/client-s3');
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(
      `a store in S3 needs the package @aws-sdk/client-s3, which cannot be loaded; install it with "npm install @aws-sdk/client-s3@3" (${reason})`,
      { cause: error },
    );
  }
}
