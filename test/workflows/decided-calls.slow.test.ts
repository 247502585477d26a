import type { SolveTrace } from '../../src';
import { DECIDE_CALL_UPDATE, STATE_QUERY } from '../../src/protocol/names';
import { waitingCalls } from '../../src/trace/waiting-calls';
import { endOf, until } from '../support/until';
import { call, SERVER, TOOLS, useToolShelf } from './tool-shelf';

const question = 'Where does the Danube rise?';

const shelf = useToolShelf();
const { open, play, called, told } = shelf;

const REFUSED = [
  [{ call: '1.a.1.1' }, /approve .* is missing/],
  [{ call: '1.a.1.1', approve: false }, /rejected with a reason/],
  [{ call: '1.a.9.9', approve: true }, /no call 1\.a\.9\.9 waits in this run/],
  [
    { call: '1.a.1.1', approve: true, arguments: { item: 7 } },
    /arguments do not fit the tool shelf__order: \/item must be string/,
  ],
] as const;

describe('a tool of which a person decides on each call', () => {
  const asking = {
    shelf: {
      mcp: { command: [process.execPath, SERVER], env: ['TOOLS_LOG', 'TOOLS_SECRET'] },
      allow: TOOLS,
      repeatable: ['look_up'],
      approve: ['order', 'look_up'],
    },
  };
  const order = call('order', { item: 'a map' });

  const callsIn = ({ rounds }: Pick<SolveTrace, 'rounds'>): unknown =>
    rounds[0]?.steps[0]?.turns?.flatMap(({ calls }) =>
      calls.map(({ name, arguments: args, outcome, output, approval }) => ({
        ...{ name, args, outcome, output, decision: approval?.decision },
      })),
    );

  /** Waits until calls wait for a person, and returns their ids. */
  async function waiting(id: string): Promise<string[]> {
    const trace = await until(
      () => shelf.stage.client.trace(id),
      ({ waitsFor }) => waitsFor === 'approval',
    );
    return waitingCalls(trace).map((each) => each.id);
  }

  test('waits, tells what waits, and goes on with what was decided; deciding twice alike changes nothing', async () => {
    await open({ tools: asking });
    play(order, 'It is ordered.');
    await shelf.stage.whileWorking(async () => {
      const { id } = await shelf.stage.client.start({ question });
      expect(await waiting(id)).toEqual(['1.a.1.1']);
      expect(called()).toEqual([]);
      const { rounds } = await shelf.stage.client.trace(id);
      expect(waitingCalls({ id, rounds })).toEqual([
        { run: id, id: '1.a.1.1', name: 'shelf__order', arguments: '{"item":"a map"}' },
      ]);
      const decision = { call: '1.a.1.1', approve: true };
      await shelf.stage.client.decideCall(id, decision, { name: 'ada' });
      await shelf.stage.client.decideCall(id, decision, { name: 'ada' });
      await expect(
        shelf.stage.client.decideCall(id, { ...decision, approve: false, reason: 'No.' }),
      ).rejects.toThrow('call 1.a.1.1 was approved already');
      const result = await endOf(shelf.stage, id);
      expect(result).toMatchObject({ status: 'completed', answer: 'It is ordered.' });
      expect(result.steered).toMatchObject([{ kind: 'approved', call: '1.a.1.1', by: 'ada' }]);
      expect(result.rounds[0]?.steps[0]?.turns?.[0]?.calls[0]).toMatchObject({
        outcome: 'ok',
        approval: { id: '1.a.1.1', decision: 'approved', by: 'ada' },
      });
    });
    expect(called()).toEqual(['order {"item":"a map"}']);
  });

  test('can be rejected for a reason that the model is told, or called with other arguments', async () => {
    await open({ tools: asking });
    const calls = ['a map', 'a globe'].map((item) => ({ name: 'shelf__order', input: { item } }));
    play({ text: '', calls }, 'One is ordered.');
    await shelf.stage.whileWorking(async () => {
      const { id } = await shelf.stage.client.start({ question });
      expect(await waiting(id)).toEqual(['1.a.1.1', '1.a.1.2']);
      await shelf.stage.client.decideCall(id, { call: '1.a.1.1', approve: false, reason: 'We have one.' });
      expect(await waiting(id)).toEqual(['1.a.1.2']);
      // The history tells what the run itself tells.
      const state = await shelf.stage.temporal.client.workflow.getHandle(id).query<SolveTrace>(STATE_QUERY);
      expect(callsIn(await shelf.stage.client.trace(id))).toEqual(callsIn(state));
      await shelf.stage.client.decideCall(id, {
        call: '1.a.1.2',
        approve: true,
        arguments: { item: 'a small globe' },
      });
      const result = await endOf(shelf.stage, id);
      expect(result.rounds[0]?.steps[0]?.turns?.[0]?.calls).toMatchObject([
        { outcome: 'denied', approval: { decision: 'rejected' } },
        { outcome: 'ok', approval: { decision: 'edited' }, arguments: '{"item":"a small globe"}' },
      ]);
    });
    expect(called()).toEqual(['order {"item":"a small globe"}']);
    expect(told()).toEqual([
      'A person rejected this call, and it was not made: We have one.',
      'A person changed the arguments of this call to {"item":"a small globe"}\n\nOrdered: a small globe.',
    ]);
  });

  test('is not called with arguments of a person that do not fit it, whatever client sent them', async () => {
    await open({ tools: asking });
    play(order, 'Nothing is ordered.');
    await shelf.stage.whileWorking(async () => {
      const { id } = await shelf.stage.client.start({ question });
      const [waits] = await waiting(id);
      const decision = { call: waits, approve: true, arguments: { item: 7 } };
      await shelf.stage.temporal.client.workflow
        .getHandle(id)
        .executeUpdate(DECIDE_CALL_UPDATE, { args: [decision] });
      const result = await endOf(shelf.stage, id);
      expect(result.rounds[0]?.steps[0]?.turns?.[0]?.calls[0]).toMatchObject({
        outcome: 'error',
        approval: { decision: 'edited' },
      });
    });
    expect(called()).toEqual([]);
    expect(told()).toEqual([
      'A person changed the arguments of this call to {"item":7}\n\n' +
        'The tool was not called: the arguments do not fit the tool shelf__order: /item must be string.',
    ]);
  });

  test('is not called if nobody decides in time, and the run goes on', async () => {
    await open({ tools: asking, limits: { approval: '1s' } });
    play(order, 'Nothing is ordered.');
    const result = await shelf.stage.solve({ question });
    expect(result).toMatchObject({ status: 'completed', answer: 'Nothing is ordered.', stoppedBy: null });
    expect(told()).toEqual(['Nobody decided on this call within 1 s, and it was not made.']);
    expect(called()).toEqual([]);
    expect(result.rounds[0]?.steps[0]?.turns?.[0]?.calls[0]).toMatchObject({ outcome: 'expired' });
  });

  test('is not called once the time of its run is over, and the run ends', async () => {
    await open({ tools: asking });
    play(order, 'It is ordered.');
    await shelf.stage.whileWorking(async () => {
      const { id } = await shelf.stage.client.start({ question });
      const [waits = ''] = await waiting(id);
      await shelf.stage.client.setLimits(id, { wallClockMs: 1 });
      await shelf.stage.client.decideCall(id, { call: waits, approve: true });
      const result = await endOf(shelf.stage, id);
      expect(result).toMatchObject({ stoppedBy: 'wallClock', error: { type: 'Limit.WallClock' } });
      expect(result.rounds[0]?.steps[0]?.turns).toMatchObject([{ calls: [{ outcome: 'error' }] }]);
    });
    expect(called()).toEqual([]);
  });

  test('refuses what is no decision on a call that waits', async () => {
    await open({ tools: asking });
    play(order, 'Done.');
    await shelf.stage.whileWorking(async () => {
      const { id } = await shelf.stage.client.start({ question });
      await waiting(id);
      for (const [decision, refusal] of REFUSED)
        await expect(shelf.stage.client.decideCall(id, decision as never)).rejects.toThrow(refusal);
      await shelf.stage.client.cancel(id);
      await expect(endOf(shelf.stage, id)).resolves.toMatchObject({ status: 'cancelled' });
    });
    expect(called()).toEqual([]);
  });
});
