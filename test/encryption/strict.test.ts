import { encryptionCodec, encryptionConverter } from '../../src/encryption/codec';
import { step } from '../support/stage';
import { type EncryptedStage, openEncryptedStage } from './encrypted-stage';
import { keyRing } from './test-keys';

const keys = keyRing('a');
const strict = { dataConverter: encryptionConverter(keys, { strict: true }) };

let stage: EncryptedStage;
beforeEach(async () => {
  stage = await openEncryptedStage({ workers: ['a', 'b'] });
  stage.plan([step('a', 'Begin.'), step('b', 'End.', [0])]);
});
afterEach(() => stage.close());

test('a strict worker does all of an encrypted run', async () => {
  stage.providers.script('a', [
    { fault: 'rate-limited', retryAfter: { ms: 1, as: 'milliseconds' } },
    'long enough to lie in the store. '.repeat(300),
  ]);
  stage.providers.answer('b', 'the end');
  const result = await stage.whileWorkingWith(
    keys,
    () => stage.conductorWith(keys).solve({ question: 'Who may ask?' }),
    strict,
  );
  expect(result).toMatchObject({ status: 'completed', degraded: false, answer: 'the end' });
});

test('a run that was started in the clear asks no model, and its history says why', async () => {
  const { workflow } = stage.temporal.client;
  const handle = await workflow.start('conductorSolve', {
    workflowId: `forged-${stage.taskQueue}`,
    taskQueue: stage.taskQueue,
    args: [{ question: 'Who may ask?' }],
  });
  /** What the worker reports of the first workflow task, encrypted as all that it sends. */
  const refusal = async (): Promise<string> => {
    for (;;) {
      const { events } = await handle.fetchHistory();
      const failed = events?.find((event) => event.workflowTaskFailedEventAttributes);
      const encoded = failed?.workflowTaskFailedEventAttributes?.failure?.encodedAttributes;
      const [reason] = encoded ? await encryptionCodec(keys).decode([encoded]) : [];
      if (reason) return Buffer.from(reason.data ?? []).toString();
    }
  };
  // The SDK logs it, too.
  const silence = jest.spyOn(console, 'error').mockReturnValue();
  await stage.whileWorkingWith(
    keys,
    async () => {
      expect(await refusal()).toContain('a payload is not encrypted, and this process accepts no other');
    },
    strict,
  );
  silence.mockRestore();
  expect(stage.providers.log).toEqual([]);
  await handle.terminate();
});
