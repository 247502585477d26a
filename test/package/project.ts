import { execFile } from 'node:child_process';
import { cp, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(__dirname, '..', '..');

/** Examples, each a separate project. */
export const EXAMPLES = ['esm', 'commonjs'] as const;
type Example = (typeof EXAMPLES)[number];

/**
 * Packs this package as it would be published, and installs it for both examples as workspaces of one empty project,
 * so that one installation serves both. `npm test` builds the package before the tests.
 */
export async function installExamples(folder: string): Promise<void> {
  const tarball = await npm(ROOT, ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder]);
  await Promise.all(EXAMPLES.map((example) => copyExample(example, folder)));
  const dependencies = { 'temporal-conductor': `file:${tarball.trim()}` };
  const project = { private: true, workspaces: EXAMPLES, dependencies };
  await writeFile(join(folder, 'package.json'), JSON.stringify(project));
  await npm(folder, ['install', '--prefer-offline', '--no-audit', '--no-fund']);
}

/** Copies an example without what earlier runs of it left behind. */
async function copyExample(example: Example, folder: string): Promise<void> {
  const left = ['node_modules', '.conductor', 'package-lock.json'];
  const filter = (path: string): boolean => !left.includes(basename(path));
  await cp(join(ROOT, 'examples', example), join(folder, example), { recursive: true, filter });
}

/**
 * Runs npm in a folder and returns its stdout.
 *
 * @throws Error with its whole output if it fails
 */
export async function npm(
  folder: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { stdout } = await promisify(execFile)('npm', args, {
    cwd: folder,
    env: { ...withoutParent(process.env), ...env },
    maxBuffer: 64 * 1024 * 1024,
  });
  return stdout;
}

/** Removes the variables by which an npm that runs the tests points child processes at its own project. */
function withoutParent(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const own = /^npm_(package|lifecycle)_|^npm_config_local_prefix$|^INIT_CWD$/;
  return Object.fromEntries(Object.entries(env).filter(([name]) => !own.test(name)));
}
