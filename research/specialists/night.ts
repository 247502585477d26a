import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { z } from 'zod';
import { runCommand, startUp, warmStartArguments } from '../demo/town';
import { toJsonLines } from '../world/questions';
import { evenExamples } from './conductor';
import type { Crew } from './crew';
import { compositionSets, HELD_OUT_PAIRS, questionSet, type QuestionRow, trainingSet } from './questions';
import type { Recipe } from './recipe';
import type { Exam } from './scores';
import { configFor } from './settings';

interface NightWish {
  readonly seed: number;
  readonly recipe: Recipe;
}

const CONFIG = 'conductor.yaml';

function folderOf(root: string, seed: number): string {
  return join(root, `night-${seed}`);
}

/** Returns the port for a night's workers: a free one, or that of its configuration if the night was begun before. */
export async function workersPort(root: string, seed: number): Promise<number> {
  const file = join(folderOf(root, seed), CONFIG);
  return existsSync(file) ? portOfWorkers(file) : freePort();
}

/** Returns the port of the workers of a `conductor.yaml`, which a later run must listen on again. */
export async function portOfWorkers(file: string): Promise<number> {
  const { workers } = configSchema.parse(parse(await readFile(file, 'utf8')));
  return Number(new URL(workers[0].baseUrl).port);
}

const configSchema = z.object({ workers: z.tuple([z.object({ baseUrl: z.url() })], z.unknown()) });

/**
 * Trains a Conductor with the product's own commands: warm start, one night of imitation and GRPO, its gate, a solve,
 * and an evaluation on the questions that also test the plain loop's Conductors. A killed run resumes.
 */
export async function spendNight(
  crew: Pick<Crew, 'ids' | 'url'>,
  root: string,
  wish: NightWish,
  tell: (line: string) => void,
): Promise<void> {
  const folder = folderOf(root, wish.seed);
  if (!existsSync(join(folder, CONFIG))) await layOut(folder, crew, wish);
  const up = await startUp(folder, 'train', 'up');
  const command = (...args: readonly string[]): Promise<string> => runCommand(folder, args);
  try {
    if (!hasNight(await command('train', 'list', '--json'))) {
      const warm = await command(...warmStartArguments('examples.jsonl', wish.recipe.warmStart));
      await command('train', 'promote', warm, '--reason', 'it writes plans');
      await command('train', 'start');
      tell(`${warm} serves, and the night has begun: follow it by "train status" in ${folder}`);
    }
    tell(await command('train', 'status'));
    const [row] = questionSet(HELD_OUT_PAIRS, 'heldOut', 1, 'shown');
    tell(await command('solve', row?.question ?? ''));
    tell(await command('eval', 'tried-on.jsonl', '--methods', 'conductor', '--out', 'evaluation'));
  } finally {
    await up.stop();
  }
}

/** Writes the input files of the commands, the configuration last, since its presence marks them as complete. */
async function layOut(
  folder: string,
  { ids, url }: Pick<Crew, 'ids' | 'url'>,
  { seed, recipe }: NightWish,
): Promise<void> {
  await mkdir(folder, { recursive: true });
  const files = {
    'train.jsonl': trainingSet(recipe.sets, seed),
    'held-out.jsonl': heldOut(recipe.lookedAt),
    'tried-on.jsonl': heldOut(recipe.triedOn),
    'examples.jsonl': evenExamples(ids, recipe, recipe.warmStart.examples, seed),
  };
  for (const [name, rows] of Object.entries(files)) await writeFile(join(folder, name), toJsonLines(rows));
  const policyUrl = `http://127.0.0.1:${await freePort()}/v1`;
  await writeFile(join(folder, CONFIG), stringify(configFor({ seed, recipe, workersUrl: url, policyUrl })));
}

/** Returns a free port, to be named in the configuration. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

/** @param runs what `train list --json` printed */
function hasNight(runs: string): boolean {
  const listed = z.array(z.object({ nights: z.array(z.unknown()) })).parse(JSON.parse(runs));
  return listed.some(({ nights }) => nights.length > 0);
}

/** Returns questions of all sets with unique ids; the set is their source, by which a report groups them. */
function heldOut({ name, count }: Exam): QuestionRow[] {
  const sets = compositionSets('heldOut', count, name);
  return sets.flatMap(([source, rows]) => rows.map((row) => ({ ...row, id: `${source} ${row.id}`, source })));
}
