// `npm run generate`: writes the committed copy of the gateway's /openapi.json; a test compares the two.
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { buildApp, documentOf } from '../lib/gateway/app.js';

const file = fileURLToPath(new URL('../docs/openapi.json', import.meta.url));
// No route is called, so the app needs no working dependencies.
await writeFile(file, `${JSON.stringify(documentOf(buildApp({}, null)), null, 2)}\n`);
