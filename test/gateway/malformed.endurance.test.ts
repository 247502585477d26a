import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { ConductorClient } from '../../src';
import { prepareClients } from '../support/client-programs';
import { openGateway, type TestGateway } from '../support/gateway';
import { openStage, type Stage } from '../support/stage';
import { testTaskQueue } from '../support/temporal';

/*
 * Valid and malformed requests that Schemathesis makes from the gateway's own OpenAPI document. No worker polls, so a
 * request that would start a solve is refused once the gateway has looked for a worker.
 */
jest.setTimeout(1_200_000);

/** Minimum number of requests, and the examples of each route besides those that cover its schema. */
const REQUESTS = 10_000;
const EXAMPLES = 90;
/** Seeds of the passes that run at once. */
const SEEDS = [1, 2, 3];
const MOST_GROWTH_BYTES = 16 * 1024 * 1024;

let stage: Stage;
let gateway: TestGateway;
beforeAll(async () => {
  stage = await openStage({ workers: ['a', 'b'], simulation: { models: { a: { answer: 'Eight.' } } } });
  gateway = await openGateway(stage);
});
afterAll(async () => {
  await gateway.close();
  await stage.close();
});

/** Runs a solve of this key on another task queue, and returns its id. */
async function solveElsewhere(secret: string): Promise<string> {
  const taskQueue = testTaskQueue();
  const { temporal, store } = stage;
  const client = new ConductorClient({ client: temporal.client, store, taskQueue });
  const elsewhere = await openGateway({ ...stage, client, taskQueue });
  const ask = () =>
    fetch(`${elsewhere.url}/v1/responses`, {
      method: 'POST',
      headers: { 'x-api-key': secret, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'worker/a', input: 'How many legs has a spider?' }),
    });
  const response = await stage.whileWorking(ask, { taskQueue });
  await elsewhere.close();
  return response.headers.get('x-conductor-solve') ?? '';
}

interface Pass {
  readonly secret: string;
  readonly solve: string;
  readonly seed: number;
  readonly phases: string;
  readonly examples: number;
}

/** Makes the requests of a pass; rejects with the output of Schemathesis if a request failed in the gateway. */
async function make({ secret, solve, seed, phases, examples }: Pass): Promise<void> {
  const args = [
    ['-m', 'schemathesis.cli', 'run', `${gateway.url}/openapi.json`],
    ['--header', `Authorization: Bearer ${secret}`],
    ['--checks', 'does_not_fail', '--phases', phases],
    ['--max-examples', String(examples), '--seed', String(seed)],
    ['--continue-on-failure', '--no-shrink', '--no-color', '--generation-database', 'none'],
    ['--suppress-health-check', 'all', '--warnings', 'off'],
  ].flat();
  const env = {
    ...process.env,
    GATEWAY_SOLVE: solve,
    GATEWAY_SEED: String(seed),
    SCHEMATHESIS_HOOKS: 'malformed',
    PYTHONPATH: join(__dirname, 'clients'),
    PYTHONDONTWRITEBYTECODE: '1',
  };
  try {
    await promisify(execFile)(prepareClients(), args, { cwd: stage.folder, env, maxBuffer: 2 ** 28 });
  } catch (error) {
    const { stdout = String(error) } = error as { readonly stdout?: string };
    throw new Error(stdout.slice(-10_000), { cause: error });
  }
}

async function countRequests(secret: string): Promise<number> {
  const response = await fetch(`${gateway.url}/metrics`, { headers: { 'x-api-key': secret } });
  const counts = [...(await response.text()).matchAll(/^\w+_requests_total\{.*\} (\d+)$/gm)];
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

async function heapUsed(): Promise<number> {
  // A second collection frees what the first one finalizes.
  for (let turns = 0; turns < 3; turns += 1) {
    collectGarbage();
    await pause(0);
  }
  return process.memoryUsage().heapUsed;
}

test('malformed requests cause no failure, and leave no workflow and no memory behind', async () => {
  const [secret, admin] = [await gateway.key(), await gateway.key({ isAdmin: true })];
  const solve = await solveElsewhere(admin);
  await make({ secret, solve, seed: 0, phases: 'coverage,fuzzing', examples: 10 });
  const before = await heapUsed();
  const passes = SEEDS.map((seed) => {
    const phases = seed === 1 ? 'coverage,fuzzing' : 'fuzzing';
    return make({ secret: admin, solve, seed, phases, examples: EXAMPLES });
  });
  await Promise.all(passes);
  expect((await heapUsed()) - before).toBeLessThan(MOST_GROWTH_BYTES);
  expect(await countRequests(admin)).toBeGreaterThan(REQUESTS);
  expect(gateway.said).toEqual([]);
  const { count } = await stage.temporal.client.workflow.count(
    `WorkflowId STARTS_WITH "gw-" AND TaskQueue = "${stage.taskQueue}"`,
  );
  expect(count).toBe(0);
});
