import fc from 'fast-check';
import type { Usage } from '../../../src';
import { type Listening, serve } from '../../support/serve';
import { DIALECTS } from './ask';
import { type Deformation, DEFORMATIONS, type Draw, type Reply } from './deformations';
import { expectedOf, type Outcome, outcomeOf, RECORDED, type Recorded, responseOf } from './recorded';

// Recorded replies, deformed. A harmless deformation leaves the outcome as it is. After any other one, the outcome is
// the recorded one, or a failure: never another text, never a cut or refused text as a whole answer, and never a usage
// that counts less. A deformation does not touch what nothing else in a reply tells: a piece of text that is left out
// was, for all that arrives, never written.

let server: Listening;
let sent: { readonly type: string; readonly chunks: readonly Buffer[] };
beforeAll(async () => {
  server = await serve((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': sent.type });
    for (const chunk of sent.chunks) response.write(chunk);
    response.end();
  });
});
afterAll(() => server.close());

function replyOf(record: Recorded): Reply {
  const { kind, thoughts } = expectedOf(record);
  const { bytes } = responseOf(record);
  const isStream = record.stream !== undefined;
  const lines = isStream
    ? bytes.split('\n').flatMap((line) => /^data: (.*)$/.exec(line)?.[1] ?? [])
    : [bytes];
  const events = lines.map((line): unknown => (line === '[DONE]' ? line : JSON.parse(line)));
  const isCut = kind === 'cut' && thoughts === '';
  const shows = kind === 'answer' && thoughts === '' ? 'all' : isCut ? 'ending' : 'none';
  return { isStream, events, shows };
}

/** Draws from numbers that a failed run prints. */
function drawFrom(numbers: readonly number[]): Draw {
  let next = 0;
  return (below) => (numbers[next++ % numbers.length] ?? 0) % below;
}

async function check(record: Recorded, { isHarmless, chunks }: Deformation, draw: Draw): Promise<void> {
  const deformed = chunks(replyOf(record), draw);
  fc.pre(deformed !== null);
  sent = { type: responseOf(record).type, chunks: deformed };
  const outcome = await outcomeOf(record.dialect, server.url);
  const expected = expectedOf(record);
  if (isHarmless) expect(outcome).toMatchObject(expected);
  if (outcome.kind === 'failure') return;
  expect(outcome.kind).toBe(expected.kind);
  if (outcome.kind !== 'refused') expect(outcome.value).toBe(expected.value);
  if (outcome.usage) expectNoLess(outcome.usage, expected.usage);
}

/** Tokens may be counted at another price, but none may be missing. */
function expectNoLess(found: Usage, due: Outcome['usage']): void {
  if (!due) throw new Error('The reply states no usage.');
  expect(found.outputTokens).toBeGreaterThanOrEqual(due.outputTokens);
  expect(found.inputTokens + found.outputTokens).toBeGreaterThanOrEqual(due.inputTokens + due.outputTokens);
}

describe.each(DIALECTS.map(({ name }, index) => ({ name, records: RECORDED[index] ?? [] })))(
  '$name: a reply is read right or fails',
  ({ records }) => {
    test.each(DEFORMATIONS)('if $name', (deformation) =>
      fc.assert(
        fc.asyncProperty(
          fc.constantFrom(...records),
          fc.array(fc.nat(), { minLength: 6, maxLength: 6 }),
          (record, numbers) => check(record, deformation, drawFrom(numbers)),
        ),
        { numRuns: Number(process.env.DEFORMED_RUNS ?? 8) },
      ),
    );
  },
);
