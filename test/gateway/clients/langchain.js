// LangChain for JavaScript: `node langchain.js QUESTION`.
import { ChatOpenAI } from '@langchain/openai';

const { GATEWAY_URL: url, GATEWAY_KEY: apiKey, GATEWAY_MODEL: model } = process.env;
const chat = new ChatOpenAI({ model, apiKey, configuration: { baseURL: `${url}/v1` } });
const prompt = process.argv[2];

const answer = await chat.invoke(prompt);
let streamed = '';
for await (const chunk of await chat.stream(prompt)) streamed += chunk.content;
console.log(JSON.stringify({ text: answer.content, streamed, tokens: answer.usage_metadata.total_tokens }));
