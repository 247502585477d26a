import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { createAskPolicy } from '../../../src/training/policy/ask';
import { runPython } from '../../../test/support/python-program';
import type { Lesson } from './lesson';
import type { Recipe } from './recipe';
import { startStepServer } from './step-server';
import { workersFor } from './workers';

/** A lesson with processes of its own. */
export interface OpenLesson extends Lesson {
  close(): Promise<void>;
}

/** @param root folder of all checkpoints; a warm start that was made there before is found again */
export async function openLesson(recipe: Recipe, seed: number, root: string): Promise<OpenLesson> {
  const trainRun = `plain-${recipe.world.name}-${seed}-${Date.now().toString(36)}`;
  const folder = join(root, trainRun);
  await mkdir(folder, { recursive: true });
  const server = await runPython('policy_server', ['--port', '0']);
  const steps = await startStepServer(root);
  const { url } = z.object({ url: z.string() }).parse(server.ready);
  return {
    recipe,
    seed,
    trainRun,
    workers: workersFor(recipe, seed),
    steps,
    ask: createAskPolicy(),
    policyUrl: `${url}/v1`,
    folder,
    close: async () => {
      await Promise.all([steps.close(), server.stop()]);
    },
  };
}
