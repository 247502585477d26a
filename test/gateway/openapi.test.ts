import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openGateway } from '../support/gateway';
import { useStage } from '../support/stage';

const stage = useStage({ workers: ['a'] });

test('the document that is served is the committed one; if it is not, run "npm run openapi"', async () => {
  const gateway = await openGateway(stage);
  const response = await fetch(`${gateway.url}/openapi.json`);
  const served = (await response.json()) as unknown;
  await gateway.close();
  const committed = await readFile(join(__dirname, '..', '..', 'docs', 'openapi.json'), 'utf8');
  expect(served).toEqual(JSON.parse(committed));
});
