import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

/** Most bytes of a header, as the format bounds it. */
const MOST_BYTES = 100_000_000;

/**
 * Returns the names of the modules inside a model's layers that adapters can be for, e.g. `q_proj`, in order; none if its
 * folder has no weights. They stand at the head of files of weights (https://github.com/huggingface/safetensors#format).
 */
export async function layerModulesOf(folder: string): Promise<string[]> {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.safetensors'));
  const heads = await Promise.all(files.map((name) => readHead(join(folder, name))));
  const matrices = heads
    .flatMap((tensors) => Object.entries(tensors))
    .flatMap(([name, { shape }]) => (shape?.length === 2 ? [name] : []));
  return [...new Set(matrices.flatMap(moduleInLayer))].sort();
}

/** Returns the module of a weight such as `model.layers.0.self_attn.q_proj.weight`, whose layer has a number. */
function moduleInLayer(tensor: string): string[] {
  const words = tensor.split('.');
  const [module, kind] = words.slice(-2);
  const isInLayer = words.slice(0, -2).some((word) => /^\d+$/.test(word));
  return module !== undefined && kind === 'weight' && isInLayer ? [module] : [];
}

/** Tensors by name; an entry without a shape is about the file. */
const head = z.record(z.string(), z.looseObject({ shape: z.array(z.number()).optional() }));

async function readHead(path: string): Promise<z.output<typeof head>> {
  const file = await open(path);
  try {
    const { buffer: size } = await file.read(Buffer.alloc(8), 0, 8, 0);
    const length = Number(size.readBigUInt64LE());
    if (length > MOST_BYTES) return {};
    const { buffer: text } = await file.read(Buffer.alloc(length), 0, length, 8);
    return head.parse(JSON.parse(text.toString()));
  } catch {
    // What cannot be read is the server's to refuse.
    return {};
  } finally {
    await file.close();
  }
}
