import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import {
  type CheckpointResult,
  checkpointResultSchema,
  type InitRequest,
  type UpdateRequest,
  type UpdateResult,
  updateResultSchema,
  type WarmStartRequest,
  type WarmStartResult,
  warmStartResultSchema,
} from '../../../src/training/trainer-contract';
import { runPython } from '../../../test/support/python-program';

/** The trainer's own steps, without Temporal: one after the other, each in a process of its own. */
export interface StepServer {
  init(request: InitRequest, texts: string): Promise<CheckpointResult>;
  warmStart(request: WarmStartRequest, examples: string): Promise<WarmStartResult>;
  update(request: UpdateRequest, batch: string): Promise<UpdateResult>;
  close(): Promise<void>;
}

const answerSchema = z.object({
  progress: z.unknown().optional(),
  result: z.unknown().optional(),
  error: z.object({ type: z.string(), message: z.string() }).optional(),
});

/** @param root folder of all checkpoints */
export async function startStepServer(root: string): Promise<StepServer> {
  const program = await runPython('fork_server');
  let id = 0;
  const perform = async <Result>(
    job: string,
    request: object,
    files: Readonly<Record<string, string>>,
    schema: z.ZodType<Result>,
  ): Promise<Result> => {
    program.tell({ id: (id += 1), job, root, request, files });
    for (;;) {
      const { error, result } = answerSchema.parse(await program.nextMessage());
      if (error) throw new Error(`${error.type}: ${error.message}`);
      if (result !== undefined) return schema.parse(result);
    }
  };
  return {
    init: (request, texts) => perform('init', request, { texts }, checkpointResultSchema),
    warmStart: (request, examples) => perform('warmStart', request, { examples }, warmStartResultSchema),
    update: (request, batch) => perform('update', request, { batch }, updateResultSchema),
    close: () => program.stop(),
  };
}

/** A file of the trainer's, and how a request names it. */
export interface HandedOver {
  readonly path: string;
  readonly stored: { readonly key: string; readonly sha256: string };
}

export async function handOver(folder: string, key: string, content: string | Buffer): Promise<HandedOver> {
  const path = join(folder, key);
  await writeFile(path, content);
  return { path, stored: { key, sha256: createHash('sha256').update(content).digest('hex') } };
}
