import { runProgram, trainerEnv, trainerPython } from '../../research/support/programs';
import { encryptionConverter } from '../../src';
import { type EncryptedStage, openEncryptedStage } from '../encryption/encrypted-stage';
import { keyRing, KEYS_VARIABLE, keysText } from '../encryption/test-keys';
import { step } from '../support/stage';

// A client and a worker in Python, and workers of ours, all strict: each binds its payloads to the workflow.

jest.setTimeout(120_000);

const PROGRAM = `
import asyncio
import sys
from concurrent.futures import ThreadPoolExecutor
from temporalio import activity
from temporalio.client import Client
from temporalio.worker import Worker
from conductor_trainer.encryption import read_encryption_keys
from conductor_trainer.payload_codec import encryption_converter

@activity.defn(name="countWords")
def count_words(request):
    return {"text": f"{len(request['sees'][0]['output'].split())} words"}

async def main():
    address, variable, task_queue, own = sys.argv[1:]
    converter = encryption_converter(read_encryption_keys(variable), strict=True)
    client = await Client.connect(address, data_converter=converter)
    with ThreadPoolExecutor() as threads:
        async with Worker(client, task_queue=own, activities=[count_words], activity_executor=threads):
            run = await client.start_workflow(
                "conductorSolve", {"question": "How many?"}, id=f"{task_queue}-python", task_queue=task_queue, result_type=dict
            )
            limits = await run.execute_update("setLimits", {"calls": 20}, result_type=dict)
            trace = await run.result()
            print(limits["calls"], trace["rounds"][0]["steps"][1]["output"], trace["answer"], sep=", ")

asyncio.run(main())
`;

let stage: EncryptedStage;
beforeAll(async () => {
  stage = await openEncryptedStage({
    workers: ['a', 'b', 'counter'],
    configure: (config) => {
      const [a, b] = config.workers;
      const taskQueue = `counters-${process.pid}`;
      const counter = { id: 'counter', provider: 'activity', type: 'countWords', taskQueue } as const;
      return { ...config, workers: [a, b, counter].flatMap((worker) => worker ?? []) };
    },
  });
});
afterAll(() => stage.close());

test('a client and a worker in Python take part in strict runs', async () => {
  stage.plan([step('a', 'Tell.'), step('counter', 'Count.', [0]), step('b', 'Say it.', [1])]);
  stage.providers.answer('a', 'to be or not to be');
  stage.providers.answer('b', 'six');
  const keys = keyRing('a');
  const python = await trainerPython();
  const answer = await stage.whileWorkingWith(
    keys,
    async () => {
      const own = `counters-${process.pid}`;
      const args = [stage.temporal.address, KEYS_VARIABLE, stage.taskQueue, own];
      const env = { ...trainerEnv(), [KEYS_VARIABLE]: keysText('a') };
      const program = runProgram(python, ['-c', PROGRAM, ...args], env);
      try {
        return await program.nextLine();
      } finally {
        await program.kill();
      }
    },
    { dataConverter: encryptionConverter(keys, { strict: true }) },
  );
  expect(answer).toBe('20, 6 words, six');
});
