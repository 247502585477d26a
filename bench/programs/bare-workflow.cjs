const { proxyActivities } = require('@temporalio/workflow');

const { ask, converse, lookUp } = proxyActivities({
  startToCloseTimeout: '1 minute',
  heartbeatTimeout: '5s',
});

/** Makes the calls of FOUR_CALLS in the same order, with the plan fixed in code. */
exports.fourCalls = async function fourCalls() {
  const plan = await ask('conductor', 'Write a plan.');
  const [a, b] = await Promise.all([ask('a', `${plan} First half.`), ask('b', `${plan} Second half.`)]);
  return ask('c', `${a} ${b} Both halves together.`);
};

/** Makes a plan's call, and then turns of one model until it calls its tool no more. */
exports.toolStep = async function toolStep() {
  const messages = [{ role: 'user', content: (await converse('conductor', PLAN)).content }];
  for (;;) {
    const said = await converse('a', messages);
    messages.push(said);
    if (said.tool_calls === undefined) return said.content;
    for (const call of said.tool_calls) {
      const result = await lookUp(JSON.parse(call.function.arguments));
      messages.push({ role: 'tool', tool_call_id: call.id, content: JSON.stringify(result) });
    }
  }
};

const PLAN = [{ role: 'user', content: 'Write a plan.' }];
