import { DAYS } from '../../src/gateway/access/day-budget';
import { openGateway, type TestGateway } from '../support/gateway';
import { openStage, type Stage, step } from '../support/stage';
import { endOf, until } from '../support/until';
import { keepSpans, type SpanKeeper, spanNamed, treeOf } from '../telemetry/kept-spans';

const QUESTION = 'How many legs has the ZEBRA-QUESTION?';
const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CALLER = 'b7ad6b7169203331';
const headers = { traceparent: `00-${TRACE}-${CALLER}-01` };
const CALLS = ['plan conductor', '  chat conductor', 'invoke_agent a', '  chat a'];

let keeper: SpanKeeper;
let stage: Stage;
let gateway: TestGateway;
beforeEach(async () => {
  keeper = keepSpans('2.x');
  stage = await openStage();
  gateway = await openGateway(stage);
  stage.plan([step('a', 'Count.')]);
});
afterEach(async () => {
  await keeper.close();
  await gateway.close();
  await stage.close();
});

const chat = { model: 'conductor', messages: [{ role: 'user', content: QUESTION }] };
const response = { model: 'conductor', input: QUESTION };

/** Waits for the spans of a solve: that of the gateway ends a moment after its response. */
async function spansOf(count: number) {
  return until(keeper.spans, (spans) => spans.length >= count);
}

function below(parent: string): string[] {
  return [parent, ...CALLS.map((line) => `  ${line}`)];
}

test.each([
  ['/v1/chat/completions', chat],
  ['/v1/responses', response],
])('an answer of %s hangs below the span of its client', async (path, body) => {
  await stage.whileWorking(() => gateway.ask('POST', path, body, { headers }));
  const spans = await spansOf(5);
  expect(treeOf(spans)).toEqual(below('invoke_workflow conductor'));
  const whole = spanNamed('invoke_workflow conductor', spans);
  expect(whole).toMatchObject({ traceId: TRACE, parentId: CALLER });
  expect(whole?.attributes).toMatchObject({ 'conductor.status': 'completed', 'conductor.degraded': false });
  expect(JSON.stringify(spans.map(({ attributes }) => attributes))).not.toMatch(/zebra/i);
});

test('a streamed answer lasts as long as its stream', async () => {
  await stage.whileWorking(async () => {
    const streamed = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { ...headers, authorization: `Bearer ${gateway.secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...chat, stream: true }),
    });
    expect(await streamed.text()).toContain('[DONE]');
  });
  const spans = await spansOf(5);
  expect(treeOf(spans)).toEqual(below('invoke_workflow conductor'));
  const { attributes } = spanNamed('invoke_workflow conductor', spans) ?? {};
  expect(attributes).toMatchObject({ 'conductor.status': 'completed' });
});

test.each([
  ['/v1/responses', { ...response, background: true }],
  ['/api/solves', { model: 'conductor', question: QUESTION }],
])('what nobody waits for at %s hangs below the client itself', async (path, body) => {
  await stage.whileWorking(async () => {
    const { body: started } = await gateway.ask('POST', path, body, { headers });
    await endOf(stage, String(started.id).replace(/^resp_/, ''));
  });
  const spans = await spansOf(4);
  expect(treeOf(spans)).toEqual(CALLS);
  expect(spanNamed('plan conductor', spans)).toMatchObject({ traceId: TRACE, parentId: CALLER });
});

test('a failed solve says why, below a header that names no span; a refused request has no span', async () => {
  stage.providers.answer('a', { fault: 'refusal' });
  const odd = { headers: { traceparent: '0'.repeat(100_000) } };
  await stage.whileWorking(() => gateway.ask('POST', '/v1/chat/completions', chat, odd));
  const failed = spanNamed('invoke_workflow conductor', await spansOf(5));
  expect(failed).toMatchObject({ failed: true, parentId: undefined });
  expect(failed?.attributes).toMatchObject({ 'error.type': 'Solve.NoAnswer', 'conductor.status': 'failed' });

  await gateway.ask('POST', '/v1/chat/completions', { ...chat, conductor: { max_cost_usd: -1 } });
  expect(keeper.spans()).toHaveLength(5);
});

test('a line of the log about a request names its solve and its span', async () => {
  const letGo = stage.providers.hold('a');
  const key = await gateway.key({ usdPerDay: 5 });
  const failed = await stage.whileWorking(async () => {
    const asked = gateway.ask('POST', '/v1/chat/completions', chat, { headers, key });
    await stage.providers.waitForRequest(({ model }) => model === 'a');
    // The cost of the solve cannot be booked.
    for await (const { key: day } of stage.store.entries(DAYS.folder))
      await stage.store.write(day, Buffer.from('no budget at all'));
    letGo();
    return asked;
  });
  expect(failed).toMatchObject({ status: 500 });
  const whole = spanNamed('invoke_workflow conductor', await spansOf(5));
  expect(gateway.about).toEqual([
    { runId: whole?.attributes['conductor.run_id'], traceId: TRACE, spanId: whole?.spanId },
  ]);
});
