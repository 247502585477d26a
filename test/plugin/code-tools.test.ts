import { z } from 'zod';
import { ConductorPlugin, defineTool } from '../../src';
import { openStage, type Stage, step } from '../support/stage';
import { workflowBundle } from '../support/temporal';
import { TestWorker } from '../support/test-worker';

let stage: Stage;
afterEach(() => stage.close());

test('functions of the user’s are tools: checked arguments, results, errors, and a call that is made again', async () => {
  stage = await openStage({ workers: ['a'] });
  const taken: unknown[] = [];
  const lookup = defineTool({
    description: 'Finds where a river rises.',
    input: z.object({ river: z.string().trim().min(3).describe('its name'), most: z.number().default(1) }),
    run: ({ river, most }, { request, signal }) => {
      taken.push([river, most, request.turn, signal.aborted]);
      return { river, rises: 'Donaueschingen' };
    },
  });
  const flaky = defineTool({
    description: 'Fails once.',
    input: z.object({}),
    repeatable: true,
    timeout: '30s',
    run: () => {
      taken.push('flaky');
      if (taken.filter((each) => each === 'flaky').length === 1) throw new Error('not yet');
      // More than Temporal takes.
      return 'x'.repeat(5_000_000);
    },
  });
  const broken = defineTool({
    description: 'Fails.',
    input: z.object({}),
    run: () => {
      taken.push('broken');
      throw new Error('no such shelf');
    },
  });
  const workers = stage.config.workers.map((worker) => ({ ...worker, tools: ['lookup', 'flaky', 'broken'] }));
  const config = { ...stage.config, workers } as typeof stage.config;
  const tools = { lookup, flaky, broken };
  const plugin = new ConductorPlugin({ config, store: stage.store, tools });
  const worker = await TestWorker.create({
    connection: stage.temporal.nativeConnection,
    taskQueue: stage.taskQueue,
    workflowBundle: workflowBundle(),
    plugins: [plugin],
  });
  stage.plan([step('a', 'Look it up.')]);
  const call = (name: string, input: object = {}) => ({ text: '', calls: [{ name, input }] });
  const asked = [
    call('lookup', { river: 'Danube ' }),
    call('lookup', { river: 7 }),
    call('flaky'),
    call('broken'),
    'At Donaueschingen.',
  ];
  const told: string[][] = [];
  stage.providers.answer('a', ({ exchanged = [] }) => {
    told.push(exchanged.flatMap(({ kind, text }) => (kind === 'result' ? [text] : [])));
    return asked[told.length - 1] ?? '';
  });
  const result = await worker.runUntil(() => stage.client.solve({ question: 'Where does the Danube rise?' }));
  expect(result).toMatchObject({ status: 'completed', answer: 'At Donaueschingen.' });
  expect(taken).toEqual([['Danube', 1, 0, false], 'flaky', 'flaky', 'broken']);
  const [found, misfit, long, failed] = told.at(-1) ?? [];
  expect(found).toBe('{"river":"Danube","rises":"Donaueschingen"}');
  expect(misfit).toMatch(
    /^The tool failed: the arguments do not fit: .*expected string, received number.*river/s,
  );
  expect(long).toMatch(/^x+\n\[cut: the result has 5000000 bytes, and at most 65536 are shown\]$/);
  expect(failed).toBe('The tool failed: no such shelf');
  const [first] = stage.requestsTo('a');
  expect(JSON.parse(first?.body ?? '{}')).toMatchObject({
    tools: [
      {
        function: {
          name: 'lookup',
          description: 'Finds where a river rises.',
          parameters: {
            type: 'object',
            properties: { river: { type: 'string', description: 'its name' }, most: { default: 1 } },
            required: ['river'],
          },
        },
      },
      { function: { name: 'flaky' } },
      { function: { name: 'broken' } },
    ],
  });
  expect(() => {
    const twice = {
      ...config,
      tools: { lookup: { activity: { type: 'a' }, description: 'b', input: { type: 'object' as const } } },
    };
    return new ConductorPlugin({ config: twice, store: stage.store, tools });
  }).toThrow('the tool lookup is in "tools:" and in the plugin\'s code: rename one of them');
  expect(() => new ConductorPlugin({ config, store: stage.store })).toThrow(/add it to "tools:"/);
  const strange = defineTool({ description: 'a', input: z.object({ at: z.date() }), run: () => '' });
  expect(() => new ConductorPlugin({ config, store: stage.store, tools: { ...tools, strange } })).toThrow(
    /^the input of the tool strange has no JSON schema: /,
  );
});
