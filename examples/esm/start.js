// `npm start`: runs the worker and asks one question, with the Temporal server that `temporal-conductor server` starts.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { simulateModels } from './simulate.js';

const models = process.env.OPENAI_API_KEY ? null : await simulateModels();
const env = { ...process.env, ...models?.env };

const worker = fork('worker.js', { env });
const client = fork('client.js', process.argv.slice(2), { env });
worker.once('exit', () => client.kill());
const [code] = await once(client, 'exit');
worker.kill();
await models?.close();
process.exitCode = code ?? 1;
