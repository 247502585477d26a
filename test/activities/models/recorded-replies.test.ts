import { serve, type Listening } from '../../support/serve';
import { DIALECTS } from './ask';
import { expectedOf, outcomeOf, RECORDED, type Recorded, responseOf } from './recorded';

// Replies in the shapes that the vendors' documents give, one file for each API under `recorded`, read by the adapters
// over a connection of this machine.

let server: Listening;
let sent: Recorded;
beforeAll(async () => {
  server = await serve((request, response) => {
    request.resume();
    const { type, bytes } = responseOf(sent);
    response.writeHead(200, { 'content-type': type }).end(bytes);
  });
});
afterAll(() => server.close());

describe.each(DIALECTS.map(({ name }, index) => ({ name, records: RECORDED[index] ?? [] })))(
  '$name',
  ({ records }) => {
    test('has at least 40 recorded replies', () => {
      expect(records.length).toBeGreaterThanOrEqual(40);
    });

    test.each(records)('$what', async (record) => {
      sent = record;
      const { message, heard, ...outcome } = await outcomeOf(record.dialect, server.url);
      expect(outcome).toEqual(expectedOf(record));
      expect(message).toContain(record.says ?? '');
      // What was shown is the answer, or how it began.
      if (record.stream !== undefined && outcome.kind === 'answer') expect(heard).toBe(outcome.value);
    });
  },
);
