import { questionsOf } from '../../examples/evaluate/world';
import { randomFrom } from '../../src/statistics/chance';
import { EVALUATE_WORKFLOW, type EvaluationProgress } from '../../src/evaluation/definitions';
import type { MethodRecord } from '../../src/evaluation/results';
import { embeddedServer, stopServer } from '../../src/local/embedded-server';
import { startWorkerProcess } from '../durability/worker-process';
import { freshFolder } from '../local/fresh-folder';
import { tries } from '../support/thorough';
import { type EvaluationStage, openEvaluation } from './open-evaluation';

const QUESTIONS = questionsOf(4);
const SEEDS = Array.from({ length: tries(4) }, (_, index) => index + 1);
const METHODS = ['conductor', 'workers', 'vote:clerk', 'random', 'silent'];

/** Returns the parts of the records that must not depend on kills. */
function verdictsOf(records: readonly MethodRecord[]): object[] {
  return records.map(({ method, index, verdict, extracted, spent, workers }) => {
    return { method, index, verdict, extracted, spent, workers };
  });
}

/** Returns the ids of calls whose answer is in the store: they are paid for, and must never be made again. */
async function finishedCalls(stage: EvaluationStage): Promise<ReadonlySet<string>> {
  const keys = await stage.store.list('answers/');
  return new Set(keys.map((key) => key.replace(/^.*\/|\.json$/g, '')));
}

test.each(SEEDS)(
  'after kills of worker and server with seed %d, verdicts are the same and no finished call is paid again',
  async (seed) => {
    const folder = await freshFolder();
    const attach = () => embeddedServer({ folder, say: () => undefined });
    const servers = [await attach()];
    const stage = await openEvaluation(QUESTIONS, { address: servers[0]?.address });
    try {
      const undisturbed = await stage.inputOf('eval-undisturbed', METHODS);
      await stage.whileWorking(() => stage.run(undisturbed));
      const before = stage.providers.log.length;

      const disturbed = await stage.inputOf('eval-disturbed', METHODS);
      let worker = await startWorkerProcess(stage);
      await stage.temporal.client.workflow.start(EVALUATE_WORKFLOW, {
        workflowId: disturbed.id,
        taskQueue: stage.taskQueue,
        args: [disturbed],
      });
      const random = randomFrom('kills', seed);
      const share = before / 4;
      const finished = new Map<string, number>();
      for (const kill of [0, 1, 2]) {
        const moment = before + Math.floor(share * (kill + random()));
        await stage.providers.waitForLog((log) => log.length >= moment);
        await worker.kill();
        for (const id of await finishedCalls(stage)) {
          if (!finished.has(id)) finished.set(id, stage.providers.log.length);
        }
        if (kill === 1) {
          await stopServer(folder);
          servers.push(await attach());
        }
        worker = await startWorkerProcess(stage);
      }
      const end = (await stage.temporal.client.workflow
        .getHandle(disturbed.id)
        .result()) as EvaluationProgress;
      await worker.kill();

      expect(end).toMatchObject({ done: QUESTIONS.length, stoppedBy: null });
      expect(verdictsOf(await stage.results(disturbed.id))).toEqual(
        verdictsOf(await stage.results(undisturbed.id)),
      );
      expect(finished.size).toBeGreaterThan(before);
      const again = stage.providers.log.filter(({ headers }, place) => {
        return place >= (finished.get(String(headers['x-client-request-id'])) ?? Infinity);
      });
      expect(again).toEqual([]);
    } finally {
      await stage.close();
      for (const server of servers) await server.stop();
    }
  },
  600_000,
);
