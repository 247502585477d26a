import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openGateway } from '../support/gateway';
import { useStage } from '../support/stage';

const stage = useStage({ workers: ['a'] });

const COMMITTED = join(__dirname, '..', '..', 'docs', 'openapi.json');

test('the document that is served is the committed one; if it is not, run "npm run generate"', async () => {
  const gateway = await openGateway(stage);
  const response = await fetch(`${gateway.url}/openapi.json`);
  const served = await response.json();
  await gateway.close();
  expect(served).toEqual(JSON.parse(await readFile(COMMITTED, 'utf8')));
});

test('the document is valid OpenAPI', async () => {
  // This module is ESM only, which jest does not load.
  const validator = require.resolve('@seriousme/openapi-schema-validator/bin/validate-api-cli.js');
  const { stdout } = await promisify(execFile)(process.execPath, [validator, COMMITTED]);
  expect(JSON.parse(stdout)).toEqual({ valid: true });
});
