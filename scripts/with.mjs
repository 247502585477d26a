// `node scripts/with.mjs FOLDER COMMAND [ARG …]`: runs a command with the packages of FOLDER, which are installed first if
// they are missing. So `npm start` installs neither what checks the repository (tools) nor what the page consists of (web).
// Several folders are separated by commas; the command is sought in all.
import { spawnSync } from 'node:child_process';
import { delimiter } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installPackages } from './install.mjs';

const [folders, command, ...args] = process.argv.slice(2);
for (const folder of folders.split(',')) {
  installPackages(folder);
  const programs = fileURLToPath(new URL(`../${folder}/node_modules/.bin`, import.meta.url));
  process.env.PATH = `${programs}${delimiter}${process.env.PATH}`;
}
const { status, error } = spawnSync(command, args, { stdio: 'inherit', shell: process.platform === 'win32' });
if (error) throw error;
process.exit(status ?? 1);
