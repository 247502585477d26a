import { randomUUID } from 'node:crypto';
import { Client } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time';
import { checkAttributes } from '../../../src/cli/setup/check-attributes';
import type { Looked } from '../../../src/cli/kit/finding';
import { parseConfig } from '../../../src/config/load';
import type { ConfigInput } from '../../../src';
import { useStage } from '../../support/stage';
import { testServerAddress } from '../../support/test-server';
import { until } from '../../support/until';

const stage = useStage();
/** `IndexedValueType` of Temporal's API. */
const TEXT = 1;

/** Checks a namespace for these attributes, as `doctor` does. */
function look(
  namespace: string,
  searchAttributes: NonNullable<ConfigInput['temporal']>['searchAttributes'],
): Promise<Looked[]> {
  const config = { ...parseConfig({ ...stage.config, temporal: { searchAttributes } }), training: undefined };
  const server = { connection: { address: testServerAddress() }, namespace };
  return checkAttributes({ config, server, isStoreTrusted: true });
}

test('a namespace is compared with what solves are to be started with', async () => {
  const namespace = `compared-${randomUUID()}`;
  const { connection, workflowService } = stage.temporal.client;
  await workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: msToTs('1 day'),
  });
  const command = `temporal operator search-attribute create --namespace ${namespace} --name`;
  const untilLooked = (state: Looked['state'], words: string) =>
    until(
      () => look(namespace, true).catch(() => []),
      ([first]) => first?.state === state && first.text.includes(words),
    );
  expect(await untilLooked('broken', 'ConductorTenant')).toEqual([
    {
      state: 'broken',
      text: [
        `namespace ${namespace} lacks what solves are started with; create it:`,
        ...['ConductorTenant', 'ConductorKey', 'ConductorModel'].map(
          (name) => `${command} ${name} --type Keyword`,
        ),
      ].join('\n'),
    },
  ]);
  const { operatorService } = new Client({ connection, namespace }).connection;
  await operatorService.addSearchAttributes({
    namespace,
    searchAttributes: Object.fromEntries([['ConductorTenant', TEXT]]),
  });
  const found = await until(
    () => look(namespace, ['ConductorTenant']),
    ([first]) => first?.text.includes('no Keyword') === true,
  );
  expect(found).toEqual([
    { state: 'broken', text: expect.stringContaining('ConductorTenant of namespace') as string },
  ]);
});
