const { proxyActivities } = require('@temporalio/workflow');

const { ask } = proxyActivities({ startToCloseTimeout: '1 minute', heartbeatTimeout: '5s' });

/** Makes the calls of FOUR_CALLS in the same order, with the plan fixed in code. */
exports.fourCalls = async function fourCalls() {
  const plan = await ask('conductor', 'Write a plan.');
  const [a, b] = await Promise.all([ask('a', `${plan} First half.`), ask('b', `${plan} Second half.`)]);
  return ask('c', `${a} ${b} Both halves together.`);
};
