// `npm run lint`: lint, format and unused code. ESLint takes src/ and all else side by side, as two processes: in its own
// threads, what judges regular expressions gets no answers.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));

const eslint = ['web,tools', 'eslint', '--config', 'tools/eslint.config.mjs'];
// First, since it also installs what all of them need.
await run('web,tools', 'prettier', '--check', '.');
await Promise.all([run(...eslint, 'src'), run(...eslint, '.', '--ignore-pattern', 'src/')]);
await run('tools', 'knip');

async function run(folders, ...command) {
  const args = ['scripts/with.mjs', folders, ...command];
  const [status] = await once(spawn(process.execPath, args, { stdio: 'inherit' }), 'close');
  if (status !== 0) process.exitCode = 1;
}
