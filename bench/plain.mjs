import OpenAI from 'openai';

/** Makes model calls over HTTP without retries; each compared program makes four of them. */
export function callsTo(url) {
  const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 });
  return async (model, content) => {
    const reply = await openai.chat.completions.create({ model, messages: [{ role: 'user', content }] });
    return reply.choices[0].message.content;
  };
}

/** Like `callsTo`, but streams the answers. */
export function streamsFrom(url) {
  const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 });
  return async (model, content) => {
    const messages = [{ role: 'user', content }];
    let text = '';
    for await (const { choices } of await openai.chat.completions.create({ model, messages, stream: true })) {
      text += choices[0]?.delta.content ?? '';
    }
    return text;
  };
}

/** The baseline: the four calls and nothing else. */
export function plainProgram(url) {
  const ask = callsTo(url);
  return async () => {
    const plan = await ask('conductor', 'Write a plan.');
    const [a, b] = await Promise.all([ask('a', `${plan} First half.`), ask('b', `${plan} Second half.`)]);
    return ask('c', `${a} ${b} Both halves together.`);
  };
}
