import { hash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Store } from '../../store/store';
import { readText } from '../../store/texts';
import type { Evaluation } from '../activities/kept';
import { conductorFor } from '../cast';
import { type EvaluatedQuestion, slugOf } from '../contract';
import { readMethod } from '../methods/read-method';
import type { MethodRecord } from '../results';
import type { MethodSummary, Summary } from '../summarize';

/** Writes an Inspect log for each method, and returns their folder. */
export async function writeInspectLogs(
  store: Store,
  evaluation: Evaluation,
  { methods }: Summary,
  folder: string,
): Promise<string> {
  const logs = join(folder, 'inspect');
  await mkdir(logs, { recursive: true });
  for (const method of methods) {
    const { file, log } = await toInspectLog(store, evaluation, method);
    await writeFile(join(logs, file), JSON.stringify(log));
  }
  return logs;
}

/** Inspect's letters for correct and incorrect; ungraded answers have no score. */
const GRADES = { correct: 'C', wrong: 'I', unparseable: 'I' } as const;

/** Returns a method's log for `inspect view`: version 2 of the format of Inspect (https://inspect.aisi.org.uk). */
export async function toInspectLog(
  store: Store,
  { manifest, records, questions }: Evaluation,
  { method, score, standardError }: MethodSummary,
): Promise<{ readonly file: string; readonly log: object }> {
  const { id, file, run, repeats = 1, startedAt, seed, madeWith } = manifest;
  const own = records.filter((record) => record.method === method);
  const metrics = Object.entries({ accuracy: score, stderr: standardError }).flatMap(([name, value]) =>
    value === null ? [] : [[name, { name, value }] as const],
  );
  const read = readMethod(method, manifest).method;
  const writer = conductorFor(manifest, read.kind === 'conductor' ? read.named : undefined);
  const log = {
    version: 2,
    status: own.length === manifest.questions ? 'success' : 'cancelled',
    eval: {
      eval_id: inspectId(id, method),
      run_id: id,
      task_id: inspectId(file),
      created: startedAt,
      task: file,
      dataset: { name: file, samples: manifest.questions / repeats },
      model: `temporal-conductor/${method}`,
      config: { epochs: repeats },
      packages: { 'temporal-conductor': madeWith?.version ?? 'unknown' },
      metadata: { seed, conductor: writer.model, workers: run.workers.map((worker) => worker.id) },
    },
    results: {
      total_samples: manifest.questions,
      completed_samples: own.length,
      scores: [{ name: 'grade', scorer: 'grade', metrics: Object.fromEntries(metrics) }],
    },
    samples: await Promise.all(own.map((record) => toSample(store, record, questions[record.index]))),
  };
  // Inspect's viewer reads time, task and id from the file name.
  const when = startedAt.replace(/[:.]/g, '-');
  return { file: `${when}_${slugOf(method)}_${inspectId(id, method)}.json`, log };
}

async function toSample(store: Store, record: MethodRecord, question: EvaluatedQuestion | undefined) {
  const { verdict, extracted, reason, answer, spent, plan, runs, method, topic, latencyMs } = record;
  // The text may have been garbage-collected; the verdict on it remains.
  const text = answer === null ? '' : await readText(store, answer).catch(() => '');
  const { inputTokens: input_tokens, outputTokens: output_tokens } = spent;
  const usage = { input_tokens, output_tokens, total_tokens: input_tokens + output_tokens };
  const message = { role: 'assistant', content: text };
  const input = question?.question ?? '';
  const score = { answer: extracted, explanation: reason };
  return {
    id: record.question,
    epoch: (question?.repeat ?? 0) + 1,
    input,
    target: question !== undefined && 'answer' in question ? question.answer : '',
    messages: [{ role: 'user', content: input }, message],
    output: { model: `temporal-conductor/${method}`, choices: [{ message }], usage },
    scores: verdict === 'ungraded' ? {} : { grade: { value: GRADES[verdict], ...score } },
    metadata: { runs, plan, topic, verdict, usd: spent.nanoUsd && spent.nanoUsd / 1e9 },
    total_time: latencyMs / 1000,
  };
}

/** Returns an id of 22 letters and digits, as Inspect's own ids are; equal for equal parts. */
function inspectId(...parts: readonly string[]): string {
  return hash('sha256', JSON.stringify(parts)).slice(0, 22);
}
