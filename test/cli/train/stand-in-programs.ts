import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import type { Folder } from '../folder';

/** Record of one start of a trainer program. */
export interface Started {
  readonly pid: number;
  readonly args: readonly string[];
  readonly address: string | null;
  /** GPUs that it may use; null: all. */
  readonly gpus: string | null;
}

/** Replaces the script of the trainer's package, without Python: its programs report that they are ready, and idle. */
const SCRIPT = `
const { appendFileSync, existsSync } = require('node:fs');
const { createServer } = require('node:http');
const [program, ...args] = process.argv.slice(2);
const { TEMPORAL_ADDRESS: address = null, CUDA_VISIBLE_DEVICES: gpus = null } = process.env;
const record = { pid: process.pid, args, address, gpus };
appendFileSync(program + '.jsonl', JSON.stringify(record) + '\\n');
if (existsSync(program + '.broken')) {
  console.error('The ' + program + ' cannot start: it is broken.');
  process.exit(1);
}
process.stdin.resume().on('end', () => process.exit());
if (program === 'worker') console.log('{}');
else {
  const port = args[args.indexOf('--port') + 1];
  createServer((_, response) => response.end('{}')).listen(port, '127.0.0.1', () => console.log('{}'));
}
`;

/** Writes the script into a folder, and returns a PATH on which it is found. */
export async function installStandIn(folder: Folder): Promise<string> {
  const bin = join(folder.path, 'bin');
  const script = join(bin, 'temporal-conductor-trainer');
  await mkdir(bin, { recursive: true });
  await writeFile(script, `#!${process.execPath}${SCRIPT}`);
  await chmod(script, 0o755);
  return [bin, process.env.PATH].join(delimiter);
}

/** Returns every start of a program in a folder, oldest first. */
export async function startsOf(folder: Folder, program: string): Promise<Started[]> {
  const text = await readFile(join(folder.path, `${program}.jsonl`), 'utf8').catch(() => '');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Started);
}
