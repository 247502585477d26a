import OpenAI from 'openai';

/** The same four calls as a plain program makes them: what a solve is compared with. */
export function plainProgram(url) {
  const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 });
  const ask = async (model, content) => {
    const reply = await openai.chat.completions.create({ model, messages: [{ role: 'user', content }] });
    return reply.choices[0].message.content;
  };
  return async () => {
    const plan = await ask('conductor', 'Write a plan.');
    const [a, b] = await Promise.all([ask('a', `${plan} First half.`), ask('b', `${plan} Second half.`)]);
    return ask('c', `${a} ${b} Both halves together.`);
  };
}
