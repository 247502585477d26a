// Installs the Node and Python clients that test the gateway, and prints the path of their Python. Test files that run
// side by side all ask for them: the first one installs them.
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { lockFile } from '../lib/local/file-lock.js';
import { installPackages } from './install.mjs';
import { preparePython } from './python-environment.mjs';

const LOCK = fileURLToPath(
  new URL('../node_modules/.cache/temporal-conductor/clients.lock', import.meta.url),
);

let lock = await lockFile(LOCK);
for (; lock === null; lock = await lockFile(LOCK)) await pause(200);
try {
  installPackages('test/gateway/clients');
  console.log(
    preparePython('clients', ['../test/gateway/clients/requirements.lock'], '200 MB, this takes a minute'),
  );
} finally {
  await lock.close();
}
