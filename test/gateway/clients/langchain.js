// LangChain for JavaScript.
import { ChatOpenAI } from '@langchain/openai';
import { apiKey, model, question, report, url } from './outcome.js';

// It repeats what failed six times unless it is told otherwise, which takes two minutes.
const chat = new ChatOpenAI({ model, apiKey, maxRetries: 1, configuration: { baseURL: `${url}/v1` } });

await report({
  whole: async () => {
    const { content, usage_metadata: usage } = await chat.invoke(question);
    return { text: content, tokens: usage.total_tokens };
  },
  streamed: async () => {
    let [text, tokens] = ['', 0];
    for await (const { content, usage_metadata: usage } of await chat.stream(question)) {
      text += content;
      tokens += usage?.total_tokens ?? 0;
    }
    return { text, tokens };
  },
});
