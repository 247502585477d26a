import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { runCommand, startUp, warmStartArguments } from '../demo/town';
import { toJsonLines } from '../world/questions';
import { evenExamples } from './conductor';
import type { Crew } from './crew';
import { compositionSets, HELD_OUT_PAIRS, questionSet, type QuestionRow, trainingSet } from './questions';
import type { Recipe } from './recipe';
import { freePort } from './school';
import type { Exam } from './scores';
import { configFor } from './settings';

/**
 * A Conductor's way by the product's own commands: warm start, one night of imitation and GRPO, its gate, a solve, and an
 * evaluation on the questions that the plain loop's Conductors are tried on.
 */
export async function spendNight(
  { ids, url }: Pick<Crew, 'ids' | 'url'>,
  root: string,
  { seed, recipe }: { readonly seed: number; readonly recipe: Recipe },
  tell: (line: string) => void,
): Promise<void> {
  const folder = join(root, `night-${seed}`);
  await mkdir(folder, { recursive: true });
  const files = {
    'train.jsonl': trainingSet(recipe.sets, seed),
    'held-out.jsonl': heldOut(recipe.lookedAt),
    'tried-on.jsonl': heldOut(recipe.triedOn),
    'examples.jsonl': evenExamples(ids, recipe, recipe.warmStart.examples, seed),
    'conductor.yaml': configFor({
      seed,
      recipe,
      workersUrl: url,
      policyUrl: `http://127.0.0.1:${await freePort()}/v1`,
    }),
  };
  for (const [name, content] of Object.entries(files)) {
    await writeFile(join(folder, name), Array.isArray(content) ? toJsonLines(content) : stringify(content));
  }
  const up = await startUp(folder, 'train', 'up');
  const command = (...args: readonly string[]): Promise<string> => runCommand(folder, args);
  try {
    const warm = await command(...warmStartArguments('examples.jsonl', recipe.warmStart));
    await command('train', 'promote', warm, '--reason', 'it writes plans');
    await command('train', 'start');
    tell(`${warm} serves, and the night has begun: follow it by "train status" in ${folder}`);
    tell(await command('train', 'status'));
    const [row] = questionSet(HELD_OUT_PAIRS, 'heldOut', 1, 'shown');
    tell(await command('solve', row?.question ?? ''));
    tell(await command('eval', 'tried-on.jsonl', '--methods', 'conductor', '--out', 'evaluation'));
  } finally {
    await up.stop();
  }
}

/** Questions of all sets, with ids of their own. */
function heldOut({ name, count }: Exam): QuestionRow[] {
  const sets = compositionSets('heldOut', count, name);
  return sets.flatMap(([set, rows]) => rows.map((row) => ({ ...row, id: `${set} ${row.id}` })));
}
