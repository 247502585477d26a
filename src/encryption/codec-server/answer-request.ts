import type { IncomingMessage } from 'node:http';
import type { Payload } from '@temporalio/common';
import type { Store } from '../../store/store';
import { AlteredPayloadError, encryptionCodec } from '../encryption-codec';
import { UnknownKeyError, type KeyRing } from '../key-ring';
import { checkAdmission, corsHeaders, PREFLIGHT_HEADERS, type Admission } from './admit';
import { Refusal } from './refusal';
import { withWholeTexts } from './whole-texts';
import { payloadsToJson, readPayloads } from './wire-payloads';

/** What a codec server works with. */
export interface CodecService extends Admission {
  readonly keys: KeyRing;
  /** Where texts lie that travel by reference. */
  readonly store: Store;
  /** Takes what went wrong on our side, in a line. */
  readonly say: (line: string) => void;
}

/** An HTTP answer; its body is JSON. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Answers one request, whatever is wrong with it. */
export async function answerRequest(request: IncomingMessage, service: CodecService): Promise<Answer> {
  let cors: Record<string, string> = {};
  try {
    cors = corsHeaders(request.headers, service);
    if (request.method === 'OPTIONS') {
      return { status: 204, headers: { ...cors, ...PREFLIGHT_HEADERS }, body: '' };
    }
    const convert = routeOf(request);
    checkAdmission(request.headers, service);
    const payloads = await convert(await readPayloads(request), service);
    return { status: 200, headers: cors, body: payloadsToJson(payloads) };
  } catch (error) {
    const { status, message, headers } = refusalOf(error, service);
    return { status, headers: { ...cors, ...headers }, body: JSON.stringify({ message }) };
  }
}

type Convert = (payloads: Payload[], service: CodecService) => Promise<Payload[]>;

const encode: Convert = (payloads, { keys }) => encryptionCodec(keys).encode(payloads);
const decode: Convert = (payloads, { keys }) => encryptionCodec(keys).decode(payloads);
const download: Convert = async (payloads, service) => {
  const decoded = await decode(payloads, service);
  return Promise.all(decoded.map((payload) => withWholeTexts(payload, service.store)));
};

/** `/decode` leaves references alone only where it is told to, as Temporal's own codec servers do. */
function routeOf({ method, url = '' }: IncomingMessage): Convert {
  const [path = '', query] = url.split('?', 2);
  const keepsRefs = new URLSearchParams(query).get('preserveStorageRefs') === 'true';
  const routes = new Map([
    ['/encode', encode],
    ['/decode', keepsRefs ? decode : download],
    ['/download', download],
  ]);
  const route = routes.get(path);
  if (route === undefined) {
    throw new Refusal(
      404,
      `there is nothing at ${path}: a codec server has ${[...routes.keys()].join(', ')}`,
    );
  }
  if (method === 'POST') return route;
  throw new Refusal(405, `${path} takes POST, and was sent ${String(method)}`, {
    allow: 'POST, OPTIONS',
  });
}

function refusalOf(
  error: unknown,
  { say }: CodecService,
): Pick<Refusal, 'message' | 'headers'> & { status: number } {
  if (error instanceof Refusal) return error;
  if (error instanceof UnknownKeyError || error instanceof AlteredPayloadError) {
    return new Refusal(422, error.message);
  }
  say(`codec server: ${error instanceof Error ? error.message : String(error)}`);
  return {
    status: 500,
    headers: {},
    message: 'the codec server failed; what went wrong is written where it runs',
  };
}
