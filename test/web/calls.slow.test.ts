import { Worker } from '@temporalio/worker';
import type { ToolRequest } from '../../src/protocol/tool-use';
import { step, useStage } from '../support/stage';
import { testTaskQueue } from '../support/temporal';
import { describeInChromium, flawsOf } from './browser';
import { answerOf, ask, usePage } from './use-page';

jest.setTimeout(240_000);

const TOOLS_QUEUE = testTaskQueue();

describeInChromium('calls of tools on the page, in Chromium', () => {
  const stage = useStage({
    workers: ['a'],
    config: {
      tools: {
        order: {
          activity: { type: 'orderPart', taskQueue: TOOLS_QUEUE },
          description: 'orders an article',
          input: { type: 'object', properties: { article: { type: 'string' } }, required: ['article'] },
          approve: true,
        },
      },
    },
    configure: (config) => ({
      ...config,
      workers: config.workers.map((worker) => ({ ...worker, tools: ['order'] })),
    }),
  });
  const { enter } = usePage(stage);

  test('a call is rejected for a reason, made with other arguments, and approved', async () => {
    const ordered: unknown[] = [];
    const order = ({ arguments: given }: ToolRequest): string => {
      ordered.push(given);
      return 'ordered';
    };
    const call = (article: string) => ({ text: '', calls: [{ name: 'order', input: { article } }] });
    stage.providers.script('a', [call('bolt'), call('nut'), call('washer'), 'All is ordered.']);
    stage.plan([step('a', 'Order it.')]);
    const own = await Worker.create({
      connection: stage.temporal.nativeConnection,
      taskQueue: TOOLS_QUEUE,
      activities: { orderPart: order },
    });
    await own.runUntil(() =>
      stage.whileWorking(async () => {
        const page = await enter();
        await ask(page, 'What is missing?');
        const asked = (turn: number) => page.getByRole('region', { name: `Call 1.a.${turn}.1` });
        await asked(1).getByText('bolt').waitFor();
        expect(await flawsOf(page)).toEqual([]);
        await asked(1).getByRole('button', { name: 'Reject' }).click();
        await asked(1).getByLabel('Why not? The model is told.').fill('We have bolts.');
        await asked(1).getByRole('button', { name: 'Reject the call' }).click();

        await asked(2).getByRole('button', { name: 'Edit' }).click();
        const field = asked(2).getByLabel('Arguments, as a JSON object');
        await field.fill('{ "article": 7 }');
        await asked(2).getByRole('button', { name: 'Call with these' }).click();
        await asked(2)
          .getByText(/do not fit the tool order/)
          .waitFor();
        await field.fill('{ "article": "lock nut" }');
        await asked(2).getByRole('button', { name: 'Call with these' }).click();

        await asked(3).getByRole('button', { name: 'Approve' }).click();
        await answerOf(page).getByText('All is ordered.').waitFor();
      }),
    );
    expect(ordered).toEqual([{ article: 'lock nut' }, { article: 'washer' }]);
    const [, second] = stage.requestsTo('a');
    expect(second?.body).toContain('We have bolts.');
  });
});
