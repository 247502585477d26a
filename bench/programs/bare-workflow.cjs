const { proxyActivities } = require('@temporalio/workflow');

const { ask } = proxyActivities({ startToCloseTimeout: '1 minute', heartbeatTimeout: '5s' });

/** The shape of a plan of three steps, and nothing of what a plan is for. */
exports.fourCalls = async function fourCalls() {
  const plan = await ask('conductor', 'Write a plan.');
  const [a, b] = await Promise.all([ask('a', `${plan} First half.`), ask('b', `${plan} Second half.`)]);
  return ask('c', `${a} ${b} Both halves together.`);
};
