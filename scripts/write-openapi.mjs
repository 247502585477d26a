// `npm run generate`: writes the committed copy of the document that the gateway serves at /openapi.json; a test compares both.
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { buildApp } from '../lib/gateway/app.js';
import { documentOf } from '../lib/gateway/openapi.js';

const file = fileURLToPath(new URL('../docs/openapi.json', import.meta.url));
// No route is asked anything, so that none needs what it works with.
await writeFile(file, `${JSON.stringify(documentOf(buildApp({}, null)), null, 2)}\n`);
