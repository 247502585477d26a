import { gzipSync } from 'node:zlib';
import type { BatchHeader, Checkpoint, UpdateMetrics } from '../../../src/training/trainer-contract';
import { questionSet, toJsonLines } from '../world/questions';
import type { Lesson } from './lesson';
import { configOf } from './recipe';
import { type RolledOut, rollOut } from './roll-out';
import { handOver } from './step-server';

/** What a cycle came to. */
export interface Cycle extends Pick<RolledOut, 'rounds' | 'draws'> {
  readonly cycle: number;
  readonly checkpoint: Checkpoint;
  /** null where no group had a spread. */
  readonly metrics: UpdateMetrics | null;
  /** Wall-clock times, in milliseconds. */
  readonly times: { readonly rollouts: number; readonly update: number };
}

/** Cycles of rollouts and update, one after the other, from a checkpoint on: what training does, in a plain loop. */
export async function* learn(lesson: Lesson, from: Checkpoint): AsyncGenerator<Cycle> {
  const { recipe, seed } = lesson;
  const questions = questionSet(recipe.world, 'train', recipe.train, seed);
  let checkpoint = from;
  for (let cycle = 1; cycle <= recipe.learning.cycles; cycle += 1) {
    const began = performance.now();
    const { rows, rounds, draws } = await rollOut(lesson, questions, checkpoint, cycle);
    const rolledOut = performance.now();
    const updated = rows.length === 0 ? null : await update(lesson, checkpoint, cycle, rows);
    checkpoint = updated?.checkpoint ?? checkpoint;
    const times = { rollouts: rolledOut - began, update: performance.now() - rolledOut };
    yield { cycle, checkpoint, rounds, draws, metrics: updated?.metrics ?? null, times };
  }
}

async function update(
  { recipe, seed, trainRun, steps, folder }: Lesson,
  { trainRun: from, name, tokenizerSha256 }: Checkpoint,
  cycle: number,
  rows: RolledOut['rows'],
) {
  const header: BatchHeader = {
    schema: 1,
    trainRun,
    cycle,
    policy: name,
    rollouts: rows.length,
    temperature: 1,
    tokenizerSha256,
  };
  const { path, stored } = await handOver(folder, 'batch.jsonl.gz', gzipSync(toJsonLines([header, ...rows])));
  const config = configOf(recipe, seed);
  const parent = { trainRun: from, name };
  return steps.update({ trainRun, cycle, parent, batch: stored, config }, path);
}
