import { groupBy } from '../../src/statistics/tally';
import { openScriptedTraining, type ScriptedTraining } from '../support/scripted-training';
import { keepSpans, type KeptSpan, type SpanKeeper, spanNamed, treeOf } from './kept-spans';

let stage: ScriptedTraining;
let keeper: SpanKeeper;
beforeEach(async () => {
  keeper = keepSpans('2.x');
  stage = await openScriptedTraining({ training: { cycles: 2 }, trainRun: 'nightly' });
});
afterEach(async () => {
  await keeper.close();
  await stage.close();
});

test('each cycle of a night is one trace: sampling, steps, grades, and what the trainer did', async () => {
  const { done } = await stage.whileWorking(() => stage.train());
  expect(done).toBe(2);
  const spans = keeper.spans();
  const cycles = groupBy(spans, ({ traceId }) => traceId);
  expect([...cycles.keys()].map((traceId) => traceId.slice(0, 6))).toEqual(['000001', '000002']);
  const [first, second] = [...cycles.values()];
  const play = (writer: string) => [
    'train nightly',
    '  update nightly',
    '  publish nightly',
    'plan conductor',
    `  chat nightly-${writer}`,
    'invoke_agent a',
    '  chat a',
    'invoke_agent b',
    '  chat b',
    'grade',
  ];
  expect(sorted(first)).toEqual(play('base').toSorted());
  // The gate tries the new checkpoint and the prompted Conductor, which asks the worker that is always wrong.
  const tried = ['plan conductor', '  chat nightly-000002', 'invoke_agent a', '  chat a', 'grade'];
  const prompted = ['plan conductor', '  chat conductor', 'invoke_agent b', '  chat b', 'grade'];
  expect(sorted(second)).toEqual([...play('000001'), ...tried, ...prompted].toSorted());
  for (const cycle of [first, second]) expectOneRoot(cycle);
  const trained = spanNamed('train nightly', spans);
  expect(trained?.attributes).toEqual({
    'gen_ai.operation.name': 'train',
    'gen_ai.conversation.id': 'train-nightly',
    'conductor.run_id': 'train-nightly',
    'conductor.cycle': 1,
  });
  expect(trained?.startedAt).toBe(first?.[0]?.startedAt);
  expect(spanNamed('chat nightly-base', spans)?.attributes).toMatchObject({
    'gen_ai.provider.name': 'policy',
    'gen_ai.request.choice.count': 2,
    'gen_ai.usage.input_tokens': expect.any(Number) as number,
    'gen_ai.usage.output_tokens': expect.any(Number) as number,
  });
  expect(JSON.stringify(spans.map(({ name, attributes }) => [name, attributes]))).not.toContain('6 times 7');
});

function sorted(spans: readonly KeptSpan[] = []): string[] {
  return treeOf(spans).toSorted();
}

/** Expects that whatever hangs below no span of the trace hangs below the same one. */
function expectOneRoot(spans: readonly KeptSpan[] = []): void {
  const known = new Set(spans.map(({ spanId }) => spanId));
  const roots = spans.flatMap(({ parentId }) => (known.has(parentId ?? '') ? [] : [parentId]));
  expect([...new Set(roots)]).toEqual([expect.stringMatching(/^[0-9a-f]{16}$/)]);
}
