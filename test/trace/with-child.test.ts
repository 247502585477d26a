import type { SolveTrace } from '../../src';
import { withChild } from '../../src/trace/with-child';
import { sampleCall, sampleRound, sampleStep, sampleTrace } from './sample-trace';

const PARENT = sampleTrace({
  degraded: false,
  rounds: [
    sampleRound([
      sampleStep(0, { worker: 'conductor', childId: 'solve-1-r0s1' }),
      sampleStep(1, {}),
      sampleStep(2, { worker: 'conductor', childId: 'solve-1-r0s3' }),
    ]),
  ],
  calls: [sampleCall({ callId: 'own', nanoUsd: 1_000_000 })],
});

function childTrace(id: string, changes: Partial<SolveTrace> = {}): SolveTrace {
  return {
    ...sampleTrace(),
    id,
    degraded: false,
    rounds: [sampleRound([sampleStep(0, {})], { depth: 1 })],
    calls: [sampleCall({ callId: `${id}-call`, nanoUsd: 2_000_000 })],
    ...changes,
  };
}

describe('a run merged with its child', () => {
  test("includes the child's rounds and calls under its id, and sums the costs", () => {
    const whole = withChild(PARENT, 'solve-1-r0s1', childTrace('solve-1-r0s1'));
    expect(whole.rounds.map(({ childId, depth }) => [childId, depth])).toEqual([
      [null, 0],
      ['solve-1-r0s1', 1],
    ]);
    expect(whole.calls.map(({ callId, childId }) => [callId, childId])).toEqual([
      ['own', undefined],
      ['solve-1-r0s1-call', 'solve-1-r0s1'],
    ]);
    expect(whole).toMatchObject({ costUsd: 0.003, costIsLowerBound: false, usage: { calls: 2 } });
  });

  test('replaces what an earlier look saw of the child and its descendants', () => {
    const below = childTrace('solve-1-r0s1-review', { rounds: [sampleRound([], { depth: 2, round: 1 })] });
    const early = withChild(childTrace('solve-1-r0s1'), 'solve-1-r0s1-review', below);
    const first = withChild(PARENT, 'solve-1-r0s1', early);
    expect(first.rounds.map(({ childId }) => childId)).toEqual([null, 'solve-1-r0s1', 'solve-1-r0s1-review']);
    expect(withChild(first, 'solve-1-r0s1', early)).toEqual(first);
    expect(withChild(first, 'solve-1-r0s1', childTrace('solve-1-r0s1')).calls).toHaveLength(2);
  });

  test('orders children by their steps, whichever came first, and puts the review last', () => {
    const ids = ['solve-1-review', 'solve-1-r0s3', 'solve-1-r0s1'];
    const whole = ids.reduce<SolveTrace>((trace, id) => withChild(trace, id, childTrace(id)), PARENT);
    const order = [null, 'solve-1-r0s1', 'solve-1-r0s3', 'solve-1-review'];
    expect(whole.rounds.map(({ childId }) => childId)).toEqual(order);
    expect(whole.calls.map(({ childId = null }) => childId)).toEqual(order);
  });

  test('does not take a step for a child of another whose number begins with its own', () => {
    const tenth = withChild(PARENT, 'solve-1-r0s10', childTrace('solve-1-r0s10'));
    expect(withChild(tenth, 'solve-1-r0s1', childTrace('solve-1-r0s1')).rounds).toHaveLength(3);
  });

  test('keeps what the run says of a child until the child has something to say', () => {
    const review = sampleRound([], { round: 1, depth: 1, childId: 'solve-1-review', plan: null });
    const asked = { ...PARENT, rounds: [...PARENT.rounds, review] };
    const silent = childTrace('solve-1-review', { rounds: [], calls: [] });
    expect(withChild(asked, 'solve-1-review', silent).rounds).toEqual(asked.rounds);
  });

  test('is degraded, stopped or waiting if its child is', () => {
    const child = childTrace('solve-1-review', { degraded: true, stoppedBy: 'cost', waitsFor: 'approval' });
    const told = { degraded: true, stoppedBy: 'cost', waitsFor: 'approval' };
    expect(withChild(PARENT, 'solve-1-review', child)).toMatchObject(told);
    const stopped: SolveTrace = { ...PARENT, stoppedBy: 'calls' };
    expect(withChild(stopped, 'solve-1-review', child).stoppedBy).toBe('calls');
  });
});
