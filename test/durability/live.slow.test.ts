import { ConductorClient, type LiveEvent } from '../../src';
import { openStage, type Stage, step } from '../support/stage';
import { startWorkerProcess } from './worker-process';

const TEXT = 'Eight legs, and as many eyes. '.repeat(80);
const PRICE = { input: 2, output: 10 };

let stage: Stage;
beforeEach(async () => {
  stage = await openStage({
    workers: ['a'],
    simulation: {
      models: { a: { answer: TEXT, script: [{ fault: 'drip', ms: 60_000 }] } },
      fallback: { price: PRICE },
    },
    config: { temporal: { heartbeat: '4s' } },
  });
  stage.plan([step('a', 'Count.')]);
});
afterEach(() => stage.close());

const isText = ({ kind }: LiveEvent): boolean => kind === 'text';

/** Takes the events of a run until `isLast`, as a client that is then lost. */
async function takeUntil(id: string, after: string | undefined, isLast: (events: LiveEvent[]) => boolean) {
  const { temporal, store, taskQueue } = stage;
  const client = new ConductorClient({ client: temporal.client, store, taskQueue });
  const events: LiveEvent[] = [];
  for await (const event of client.stream(id, { after })) {
    events.push(event);
    if (isLast(events)) break;
  }
  return events;
}

/** Returns for each call of the worker whether it was completed. */
async function endedCalls(id: string): Promise<boolean[]> {
  const rows = (await stage.rows(id)).filter(({ worker }) => worker === 'a');
  return rows.map(({ usage }) => usage !== null);
}

test('a stream survives the death of its worker and of its reader, and ends with the answer that was kept', async () => {
  const id = 'streamed';
  const first = await startWorkerProcess(stage);
  await stage.client.start({ question: 'How many legs?', live: true }, id);
  const before = await takeUntil(id, undefined, (events) => events.filter(isText).length === 2);
  // A client that leaves does not wait for news of the run.
  expect(await endedCalls(id)).toEqual([false]);
  await first.kill();
  const second = await startWorkerProcess(stage);
  const after = await takeUntil(id, before.at(-1)?.cursor, (events) => events.at(-1)?.kind === 'ended');
  await second.kill();

  expect(after.map(({ kind }) => kind).filter((kind) => kind !== 'text')).toEqual([
    'restarted',
    'stepEnded',
    'ended',
  ]);
  const said = after.map((event) => (event.kind === 'text' ? event.delta : '')).join('');
  const heard = before.map((event) => (event.kind === 'text' ? event.delta : '')).join('');
  expect(TEXT.startsWith(heard)).toBe(true);
  expect(said.endsWith(TEXT)).toBe(true);
  expect(after.at(-1)).toMatchObject({ answer: TEXT, status: 'completed' });
  expect(await endedCalls(id)).toEqual([false, true]);
});
