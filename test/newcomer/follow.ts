import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { trainerPython } from '../../research/support/programs';
import { type Command, type Deed, missingLine, type WrittenFile } from './blocks';
import { redirectModels } from './models';
import { Shell } from './shell';

export interface Setting {
  readonly root: string;
  /** Empty folder in which the commands run. */
  readonly folder: string;
  /** Folder of the commands that were installed globally; last on the PATH. */
  readonly bin: string;
  /** URL of the simulated models. */
  readonly modelsAt: string;
  readonly say: (line: string) => void;
}

/** Follows a document and returns its faults; no command runs after the first one that fails. */
export async function followDocument(deeds: readonly Deed[], setting: Setting): Promise<string[]> {
  const { folder, modelsAt, say } = setting;
  const shell = new Shell(folder, await environment(setting, deeds));
  const faults: string[] = [];
  for (const deed of deeds) {
    if (deed.kind === 'file') {
      say(`  wrote ${deed.name}`);
      await writeIn(folder, deed, modelsAt);
      continue;
    }
    const began = Date.now();
    const fault = await runCommand(shell, deed, setting);
    say(`  ${fault === null ? '✓' : '✗'} ${deed.line} (${((Date.now() - began) / 1000).toFixed(1)} s)`);
    if (fault === null) continue;
    faults.push(fault);
    break;
  }
  faults.push(...(await shell.close()));
  const files = deeds.filter((deed) => deed.kind === 'file');
  if (files.some(({ name }) => name.endsWith('.ts'))) faults.push(...(await compile(setting, files)));
  return faults;
}

async function writeIn(folder: string, { name, content }: WrittenFile, modelsAt: string): Promise<void> {
  const path = join(folder, name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, /\.ya?ml$/.test(name) ? redirectModels(content, modelsAt) : content);
}

/** Runs a command; returns what differs from the page, or null. */
async function runCommand(shell: Shell, command: Command, { root }: Setting): Promise<string | null> {
  const { line, stays, prints } = command;
  const literal = withPackages(line, join(root, 'dist')).replace(/^(export \w+=)…$/, '$1newcomer');
  const { exitCode, printed } = await shell.run({ ...command, line: literal }, (text) => {
    return missingLine(prints, text) === undefined;
  });
  if (!stays && exitCode !== command.exitCode) {
    return `"${line}" ended with ${exitCode ?? 'no exit code'}, not with ${command.exitCode}:\n${printed}`;
  }
  const missing = missingLine(prints, printed);
  return missing === undefined
    ? null
    : `"${line}" did not print "${missing.trim()}" in its turn, but:\n${printed}`;
}

/** Replaces `path/to/NAME` by the path of the packed file of that name. */
function withPackages(line: string, dist: string): string {
  const packed = readdirSync(dist);
  return line.replace(/path\/to\/(\S+)/g, (whole, name: string) =>
    packed.includes(name) ? join(dist, name) : whole,
  );
}

/** Returns this machine's environment without what belongs to this repository, to Temporal and to models. */
async function environment(
  { root, folder, bin, modelsAt }: Setting,
  deeds: readonly Deed[],
): Promise<NodeJS.ProcessEnv> {
  const ours =
    /^(npm_(package|lifecycle|config_local_prefix)|INIT_CWD$|TEMPORAL_(?!CLI_PATH)|CONDUCTOR_(?!CACHE)|\w+_API_KEY$)/;
  const kept = Object.entries(process.env).filter(([name]) => !ours.test(name));
  const path = (process.env.PATH ?? '').split(delimiter).filter((each) => !each.includes('node_modules'));
  const keys = ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'GEMINI_API_KEY'];
  const needsTrainer = deeds.some((deed) => deed.kind === 'command' && deed.line.includes('.whl'));
  return {
    ...Object.fromEntries(kept),
    PATH: [...path, bin].join(delimiter),
    XDG_STATE_HOME: join(folder, '.state'),
    CONDUCTOR_TRUST: keys.map((key) => `${key}=${modelsAt}`).join(','),
    npm_config_prefer_offline: 'true',
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    ...(needsTrainer && (await lockedPackages(root))),
  };
}

/** Takes the wheel's dependencies (5 GB) from the repository's own environment, which has the locked versions. */
async function lockedPackages(root: string): Promise<NodeJS.ProcessEnv> {
  const where = ['-c', 'import sysconfig; print(sysconfig.get_path("purelib"))'];
  const { stdout } = await promisify(execFile)(await trainerPython(), where, { cwd: root });
  return { PIP_NO_DEPS: '1', PIP_DISABLE_PIP_VERSION_CHECK: '1', PYTHONPATH: stdout.trim() };
}

/** Compiles strictly, with all declarations; ignores errors in those of Temporal's own packages. */
async function compile({ root, folder }: Setting, files: readonly WrittenFile[]): Promise<string[]> {
  const packages = join(root, 'node_modules');
  const options =
    '--noEmit --strict --skipLibCheck false --exactOptionalPropertyTypes --module node20 --target es2022';
  const types = ['--types', 'node', '--typeRoots', join(packages, '@types')];
  const names = files.map(({ name }) => name).filter((name) => name.endsWith('.ts'));
  const compiler = join(packages, '@typescript', 'native', 'bin', 'tsc');
  const args = [compiler, ...options.split(' '), ...types, ...names];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder }).catch(
    (error: unknown) => z.object({ stdout: z.string() }).parse(error),
  );
  return stdout
    .split('\n')
    .filter((line) => /^\S.*error TS/.test(line) && !line.startsWith('node_modules/@temporalio/'));
}
