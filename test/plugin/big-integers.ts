import {
  BinaryPayloadConverter,
  CompositePayloadConverter,
  JsonPayloadConverter,
  METADATA_ENCODING_KEY,
  UndefinedPayloadConverter,
  type Payload,
  type PayloadConverterWithEncoding,
} from '@temporalio/common';

/** Converts `bigint`, which the default converter refuses. */
class BigIntegers implements PayloadConverterWithEncoding {
  readonly encodingType = 'test/bigint';

  toPayload(value: unknown): Payload | undefined {
    if (typeof value !== 'bigint') return undefined;
    const encoder = new TextEncoder();
    return {
      metadata: { [METADATA_ENCODING_KEY]: encoder.encode(this.encodingType) },
      data: encoder.encode(value.toString()),
    };
  }

  // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- the SDK's own signature
  fromPayload<T>({ data }: Payload): T;
  fromPayload({ data }: Payload): unknown {
    return BigInt(new TextDecoder().decode(data ?? undefined));
  }
}

/** A user's own converter, under the name that Temporal looks for. */
export const payloadConverter = new CompositePayloadConverter(
  new BigIntegers(),
  new UndefinedPayloadConverter(),
  new BinaryPayloadConverter(),
  new JsonPayloadConverter(),
);
