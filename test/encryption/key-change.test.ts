import { UnknownKeyError } from '../../src';
import { step } from '../support/stage';
import { type EncryptedStage, openEncryptedStage } from './encrypted-stage';
import { payloadsIn } from './payloads-in';
import { keyRing } from './test-keys';

const LONG = 'long enough to lie in the store. '.repeat(300);

const [before, during, after] = [keyRing('a'), keyRing('b', 'a'), keyRing('b')];

let stage: EncryptedStage;
afterEach(() => stage.close());

test('a run begun under one key finishes under the next, and is readable with both', async () => {
  stage = await openEncryptedStage({ workers: ['a', 'b'] });
  stage.plan([step('a', 'Begin.'), step('b', 'End.', [0])]);
  stage.providers.script('a', [LONG]);
  stage.providers.answer('b', 'the end');
  const release = stage.providers.hold('b');
  const { id } = await stage.conductorWith(before).start({ question: 'Who holds the keys?' });

  await stage.whileWorkingWith(before, () => stage.providers.waitForRequest(({ model }) => model === 'b'));
  release();
  await stage.whileWorkingWith(during, () => stage.clientWith(during).workflow.getHandle(id).result());

  expect(await keyIdsOf(id)).toEqual(new Set(['a', 'b']));
  const result = await stage.conductorWith(during).trace(id);
  expect(result).toMatchObject({ status: 'completed', degraded: false, answer: 'the end' });
  expect(result.rounds[0]?.steps[0]?.output).toBe(LONG);

  const reading = stage.conductorWith(after).trace(id);
  await expect(reading).rejects.toThrow(UnknownKeyError);
  await expect(reading).rejects.toThrow(
    'a payload was encrypted with key "a", which TEST_KEYS does not hold (it holds b): add that key after the first one',
  );
});

/** Returns the ids of all keys that a run's history names. */
async function keyIdsOf(id: string): Promise<Set<string>> {
  const history = await stage.temporal.client.workflow.getHandle(id).fetchHistory();
  return new Set(
    [...payloadsIn(history)].map(({ metadata }) =>
      Buffer.from(metadata?.['encryption-key-id'] ?? []).toString(),
    ),
  );
}
