import { SOLVE_WORKFLOW } from '../../src/protocol/names';
import { useStage } from '../support/stage';
import { until } from '../support/until';
import { describeInChromium, flawsOf } from './browser';
import { usePage } from './use-page';

jest.setTimeout(240_000);

const ENDED = 230;
const DRAWN_AT_MOST = 60;

describeInChromium('the list of solves, in Chromium', () => {
  const stage = useStage({ workers: ['a'] });
  const site = usePage(stage);

  /** Starts runs and terminates them, so that they end without a worker. */
  async function startEnded(): Promise<void> {
    const { workflow } = stage.temporal.client;
    for (let index = 0; index < ENDED; index += 1) {
      const workflowId = `list-${stage.taskQueue}-${index}`;
      const args = [{ question: `Question q${index}q?` }];
      const handle = await workflow.start(SOLVE_WORKFLOW, { workflowId, taskQueue: stage.taskQueue, args });
      await handle.terminate();
    }
    await until(
      () => stage.client.list({ ended: 1000, taskQueue: stage.taskQueue }),
      ({ runs }) => runs.length === ENDED && runs.every(({ status }) => status === 'failed'),
    );
  }

  test('scrolling loads earlier solves, few rows are drawn, and a filter finds what was not read', async () => {
    await startEnded();
    const page = await site.enter();
    await page.getByRole('link', { name: 'Solves' }).click();
    const rows = page.getByRole('grid').getByRole('link');
    await rows.first().waitFor();
    await page.locator('.count').getByText('100 so far', { exact: true }).waitFor();
    // The gateway looks through all solves, not only those that were read.
    await page.getByLabel('Filter solves').fill('q7q');
    await page.getByText('Question q7q?').waitFor();
    await page.locator('.count').getByText('1', { exact: true }).waitFor();
    expect(await rows.count()).toBe(1);
    expect(await page.getByRole('button', { name: 'Look further back' }).count()).toBe(0);
    expect(await flawsOf(page)).toEqual([]);
    await page.getByRole('button', { name: /^Failed/ }).click();
    await page.locator('.count').getByText('1', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Done', exact: true }).click();
    await page.getByText('No solve matches').waitFor();
    // A day on which nothing started, in the address as a person would keep it.
    await page.getByLabel('Filter solves').press('Escape');
    await page.getByLabel('Started from').fill('2021-03-04');
    await page.locator('.count').getByText('100 so far').waitFor();
    await page.getByLabel('Started to').fill('2021-03-05');
    await page.getByText('No solve matches').waitFor();
    expect(new URL(page.url()).search).toBe('?from=2021-03-04&to=2021-03-05');

    // The address keeps the filter, so that it holds after a reload, too.
    await page.getByLabel('Filter solves').press('Escape');
    await page.reload();
    const list = page.getByRole('grid', { name: 'Solves' });
    await rows.first().waitFor();
    await list.press('End');
    await page
      .locator('.count')
      .getByText(/^19\d so far$/)
      .waitFor();
    await list.press('End');
    await page.locator('.count').getByText('230', { exact: true }).waitFor();
    await list.press('End');
    await page.getByText('Question q0q?').waitFor();
    expect(await rows.count()).toBeLessThan(DRAWN_AT_MOST);
    // The browser's Back comes to the row that was left.
    await list.press('Enter');
    await page.getByRole('heading', { name: 'Question q0q?' }).waitFor();
    expect(await page.title()).toBe('failed: Question q0q? · conductor');
    await page.goBack();
    await page.getByText('Question q0q?').waitFor();
    expect(await page.locator('.row.active').textContent()).toContain('Question q0q?');
    const names = await page.evaluate<string[]>(
      `[...document.querySelectorAll('.row a')].map(({ href }) => href)`,
    );
    expect(new Set(names).size).toBe(names.length);
    expect(await list.getAttribute('aria-rowcount')).toBe(String(ENDED + 1));
    // A new run comes first, and no loaded run is lost.
    const { id } = await stage.client.start({ question: 'A new one?' });
    await page.locator('.count').getByText('231', { exact: true }).waitFor();
    await stage.temporal.client.workflow.getHandle(id).terminate();
  });

  test('ten thousand rows scroll, and the longest task is printed', async () => {
    const row = (index: number) => ({
      id: `many-${index}`,
      runId: 'none',
      status: 'completed',
      waitsFor: null,
      hasWorker: null,
      question: `Question q${index}q, which is about as long as one that a person would ask?`,
      problems: [],
      workers: ['a'],
      costUsd: 0.0012,
      costIsLowerBound: false,
      startedAt: new Date(Date.UTC(2026, 0, 1) - index * 60_000).toISOString(),
      endedAt: new Date(Date.UTC(2026, 0, 1) - index * 60_000).toISOString(),
    });
    const runs = Array.from({ length: 10_000 }, (_, index) => row(index));
    const page = await site.enter();
    // Mocks the gateway's responses: making so many runs would take minutes, and only the browser is tested here. Once
    // all were read, it tells the newest ones, as it does.
    let newest = runs;
    await page.route('**/api/solves?*', (route) => {
      const isNewest = !route.request().url().includes('endedBefore');
      const json = { runs: isNewest ? newest : [], unlisted: 0, earlier: isNewest ? 'more' : null };
      newest = runs.slice(0, 100);
      return route.fulfill({ json });
    });
    await page.getByRole('link', { name: 'Solves' }).click();
    const list = page.getByRole('grid', { name: 'Solves' });
    await page.getByRole('grid').getByRole('link').first().waitFor();
    await page.evaluate(`window.longest = 0; new PerformanceObserver((list) => {
      window.longest = Math.max(window.longest, ...list.getEntries().map(({ duration }) => duration));
    }).observe({ type: 'longtask' })`);
    await list.hover();
    for (let turns = 0; turns < 40; turns += 1) await page.mouse.wheel(0, 4000);
    await list.press('End');
    await page.getByText('Question q9999q', { exact: false }).waitFor();
    expect(await page.getByRole('grid').getByRole('link').count()).toBeLessThan(DRAWN_AT_MOST);
    await page.getByLabel('Filter solves').fill('q8321q');
    await page.locator('.count').getByText('1', { exact: true }).waitFor();
    const longest = await page.evaluate<number>('window.longest');
    process.stderr.write(
      `The longest task while 10,000 rows scrolled: ${Math.round(longest)} ms (aim: 200).\n`,
    );
  });
});
