import type { Page } from 'playwright-core';
import { readGivenConfig } from '../../src/config/load';
import { resolveRun } from '../../src/config/resolve-run';
import { KeyChecker } from '../../src/gateway/access';
import { readServing } from '../../src/training/client';
import { gateKey } from '../../src/training/store-keys';
import { useStage } from '../support/stage';
import { until } from '../support/until';
import { describeInChromium, linkFor, flawsOf } from './browser';
import { keepCalls, keepEvaluation, keepNextCycle, keepNights } from '../support/kept-board';
import { usePage } from './use-page';

jest.setTimeout(240_000);

describeInChromium('learning, evaluations and money, in Chromium', () => {
  const stage = useStage({ workers: ['a', 'b'] });
  const site = usePage(stage);

  /** Opens a place of the page, by default with an admin key. */
  async function enter(place: string, secret = site.secret): Promise<Page> {
    const { page } = site.reader;
    await page.goto(await linkFor(stage, site.gateway.url, secret));
    await page.getByRole('link', { name: place, exact: true }).click();
    await page.getByRole('heading', { name: place, level: 1 }).waitFor();
    return page;
  }

  /** Returns flaws in both themes on a wide and on a phone's screen, which the page must not exceed. */
  async function flawsWideAndNarrow(page: Page): Promise<string[]> {
    const flaws = await flawsOf(page);
    await page.setViewportSize({ width: 390, height: 800 });
    flaws.push(...(await flawsOf(page)));
    const width = await page.evaluate<number>('document.documentElement.scrollWidth');
    if (width > 390) flaws.push(`the page is ${width} pixels wide`);
    await page.setViewportSize({ width: 1280, height: 800 });
    return flaws;
  }

  const regionOf = (page: Page, name: string | RegExp) => page.getByRole('region', { name });

  test('shows curves, nights, the gate and, by keyboard alone, what was tried in a cycle', async () => {
    await keepNights(stage.store);
    const page = await enter('Learning');
    const run = regionOf(page, 'Training run nightly');
    await run.getByRole('img', { name: 'Training run nightly: what was learned' }).waitFor();
    await run.getByText('training 0.913').waitFor();
    const gate = regionOf(page, 'Gate of the night 2026-11-21');
    await gate.getByText('nightly/000008 against nightly/000004: promoted').waitFor();
    await gate.getByText('+0.417', { exact: true }).waitFor();
    await gate.getByText('more than +0.338 with 97.5 % confidence', { exact: true }).waitFor();
    await gate.getByText(/mean reward 0.917 against 0.500 on 12 held-out questions/).waitFor();
    expect((await readServing(stage.store)).serving).toMatchObject({ name: '000008' });
    expect(await flawsWideAndNarrow(page)).toEqual([]);

    await run.getByRole('button', { name: 'Cycle 8, reward 0.91' }).focus();
    await page.keyboard.press('Enter');
    const group = page.getByRole('article', { name: 'Group 2' });
    await group.getByText('كم عدد أرجل العنكبوت؟').waitFor();
    await group.getByText('Multiply by the number of spiders.').waitFor();
    await group.getByText('No plan: it has no steps').waitFor();
    // Equal plans are merged, and the best comes first.
    expect(await group.locator('.fold > p:first-child').allTextContents()).toEqual([
      expect.stringMatching(/^0\.742 times/),
      expect.stringMatching(/^0\.51 time.*wrong$/),
      expect.stringMatching(/^01 time.*unparseable$/),
    ]);
    await page.getByRole('article', { name: 'Group 1' }).getByText('<b>Count</b>').waitFor();
    expect(await flawsWideAndNarrow(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await group.waitFor({ state: 'detached' });
    expect(await page.evaluate('document.activeElement.textContent')).toBe('8');
    await run.getByRole('button', { name: '2026-11-20' }).click();
    await regionOf(page, 'Gate of the night 2026-11-20')
      .getByText(/No decision/)
      .waitFor();
  });

  test('an altered record of a gate hides nothing else', async () => {
    await keepNights(stage.store);
    await stage.store.write(gateKey('nightly', '2026-11-21'), Buffer.from('{}'));
    const page = await enter('Learning');
    await page.getByText(/The gate’s findings cannot be read/).waitFor();
    await regionOf(page, 'Figures').getByRole('img').waitFor();
  });

  test('a chart follows the theme and the width, and its figures are also shown as a table', async () => {
    await keepNights(stage.store);
    const page = await enter('Learning');
    const chart = page.getByRole('img').first();
    await chart.getByText('Reward', { exact: true }).waitFor();
    const ink = `getComputedStyle(document.querySelector('.picture text')).fill`;
    const inks: string[] = [];
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      inks.push(await page.evaluate<string>(ink));
    }
    expect(inks).toEqual(['rgb(93, 97, 104)', 'rgb(160, 165, 173)']);
    const widthOf = async (): Promise<number> => (await chart.boundingBox())?.width ?? 0;
    expect(await widthOf()).toBeGreaterThan(1000);
    await page.setViewportSize({ width: 390, height: 800 });
    await until(widthOf, (width) => width > 0 && width < 390);
    await page.getByText('All figures as a table').click();
    await page.getByRole('rowheader', { name: 'Reward: training' }).waitFor();
    expect(await flawsWideAndNarrow(page)).toEqual([]);
  });

  test('a running night appears, grows, and finally shows its gate', async () => {
    await keepNights(stage.store);
    const page = await enter('Learning');
    const run = regionOf(page, 'Training run nightly');
    await run.getByRole('button', { name: '2026-11-21' }).waitFor();
    await keepNextCycle(stage.store, 9);
    const row = run.getByRole('row').filter({ hasText: '2026-11-22' });
    await row.getByText('still running').waitFor();
    await row.getByText('of 10').waitFor();
    await row.getByText('0.81 → 0.81').waitFor();
    await keepNextCycle(
      stage.store,
      10,
      'nightly/000010 does not replace nightly/000008: its gain may be chance (p)',
    );
    await row
      .getByText('nightly/000010 does not replace nightly/000008: its gain may be chance', { exact: true })
      .waitFor();
    await row.getByText('0.81 → 0.92').waitFor();
    await run.getByText('training 0.92').waitFor();
    await regionOf(page, 'Gate of the night 2026-11-22')
      .getByText(/may be chance \(p\)/)
      .waitFor();
    expect(await row.count()).toBe(1);
  });

  test('an evaluation is listed, drawn and sorted, and disagreements are shown side by side', async () => {
    const page = await enter('Evaluations');
    await page.getByText('No evaluations yet').waitFor();
    expect(await flawsWideAndNarrow(page)).toEqual([]);
    await keepEvaluation(stage.store, resolveRun(readGivenConfig(stage.config)));
    await page.reload();
    await page.getByRole('link', { name: 'eval-legs' }).waitFor();
    expect(await flawsWideAndNarrow(page)).toEqual([]);
    await page.getByRole('link', { name: 'eval-legs' }).click();
    await page
      .getByText(/conductor against worker:a, the best single worker on these questions: \+0\.167/)
      .waitFor();
    await page.getByRole('img', { name: 'Score against cost' }).getByText('random-routing').waitFor();

    const table = regionOf(page, 'Scores and costs');
    const methods = (): Promise<string[]> => table.getByRole('rowheader').allTextContents();
    expect(await methods()).toEqual(['conductor', 'worker:a', 'worker:b', 'random-routing']);
    await table.getByRole('button', { name: 'Cost per question' }).click();
    expect(await methods()).toEqual(['worker:b', 'random-routing', 'worker:a', 'conductor']);
    await page.keyboard.press('Enter');
    expect(await methods()).toEqual(['conductor', 'worker:a', 'random-routing', 'worker:b']);
    await table.getByRole('columnheader', { name: 'Cost per question', includeHidden: true }).waitFor();
    // On a phone, what a method costs is in sight without scrolling.
    await page.setViewportSize({ width: 390, height: 800 });
    const [cost, room] = [await table.getByText('$0.0040').boundingBox(), await table.boundingBox()];
    expect((cost?.x ?? 0) + (cost?.width ?? 0)).toBeLessThanOrEqual((room?.x ?? 0) + (room?.width ?? 0));
    await page.setViewportSize({ width: 1280, height: 800 });

    await regionOf(page, 'By data set').getByRole('rowheader', { name: 'AIME' }).first().waitFor();
    const question = page.getByRole('article', { name: 'Question q10' });
    await question.getByText('Right: 80').waitFor();
    await question.getByText('<i>seven</i>').waitFor();
    await question.getByText('Its plan').click();
    await question.getByText('Check.').waitFor();
    const solve = question.getByRole('link', { name: 'Its solve' }).first();
    expect(await solve.getAttribute('href')).toBe('/solves/eval-legs-0-10');
    expect(await flawsWideAndNarrow(page)).toEqual([]);
    await page.goto(`${site.gateway.url}/evaluations/nothing`);
    await page.getByText(/This evaluation cannot be shown: there is no evaluation "nothing"/).waitFor();
  });

  test('a key without admin rights sees curves and scores, but neither questions nor the money of others', async () => {
    await keepNights(stage.store);
    await keepEvaluation(stage.store, resolveRun(readGivenConfig(stage.config)));
    const page = await enter('Learning', site.gateway.secret);
    await page.getByRole('cell', { name: '4 of 4' }).first().waitFor();
    expect(await page.getByRole('button', { name: /Cycle|Promote/ }).count()).toBe(0);
    await page.goto(`${site.gateway.url}/evaluations/eval-legs`);
    await page.getByText('Its questions, plans and answers are shown only to an admin key.').waitFor();
    await page.getByRole('img', { name: 'Score against cost' }).waitFor();
    await page.getByRole('link', { name: 'Money' }).click();
    await page.getByText('No costs yet').waitFor();
    expect(await page.getByRole('button', { name: 'By key' }).count()).toBe(0);
    expect(await flawsWideAndNarrow(page)).toEqual([]);
  });

  test('spending is drawn by day and worker, and summed by key', async () => {
    const key = await new KeyChecker(stage.store).check(site.secret);
    await keepCalls(stage.store, key?.id ?? '');
    const page = await enter('Money');
    await page.getByRole('img', { name: 'Cost by day, stacked by worker' }).getByText('sonnet').waitFor();
    await page.getByText('at least $2.32').waitFor();
    await page.getByText('prompt caches saved $0.0009').waitFor();
    await page.getByText('1 unfinished call: still running, or lost with a process that died').waitFor();
    // One bar per day and one mark in the legend; each worker's bars are stacked on those of the worker below.
    const bars = (hue: number) => page.locator(`.picture path[style*="--hue-${hue}"]`);
    for (const hue of [0, 1, 2]) expect(await bars(hue).count()).toBe(21);
    const boxes = await Promise.all([0, 1].map((hue) => bars(hue).first().boundingBox()));
    const [below, above] = boxes.map((box) => box ?? { x: 0, y: 0, height: 0 });
    expect(above).toMatchObject({
      x: below?.x,
      y: expect.closeTo((below?.y ?? 0) - (above?.height ?? 0), 0) as number,
    });
    const days = page.getByRole('rowheader');
    expect(await days.count()).toBe(20);
    expect(await days.first().textContent()).toBe('2026-11-20');
    expect(await flawsWideAndNarrow(page)).toEqual([]);
    await page.getByRole('button', { name: 'By key' }).click();
    const own = page.getByRole('row').filter({ hasText: `ada (${key?.id})` });
    await own.getByText('$0.4170').waitFor();
    await page.getByRole('rowheader', { name: 'no key' }).waitFor();
    expect(await flawsWideAndNarrow(page)).toEqual([]);
    await page.getByRole('button', { name: 'Most expensive solves' }).click();
    await page.getByRole('link', { name: 'solve-20' }).waitFor();
  });

  test('nothing moves while a page loads', async () => {
    await keepNights(stage.store);
    await keepEvaluation(stage.store, resolveRun(readGivenConfig(stage.config)));
    const secret = await site.gateway.key({ isAdmin: true });
    const key = await new KeyChecker(stage.store).check(secret);
    await keepCalls(stage.store, key?.id ?? '');
    await site.reader.page.addInitScript(`
      window.moved = [];
      new PerformanceObserver((list) => {
        for (const { value, sources } of list.getEntries())
          window.moved.push(value.toFixed(4) + ' ' + sources.map(({ node }) => node?.outerHTML?.slice(0, 120)).join());
      }).observe({ type: 'layout-shift', buffered: true });
    `);
    const page = await enter('Learning', secret);
    const places = [
      ['/learning', 'Failures'],
      ['/evaluations', 'eval-legs'],
      ['/evaluations/eval-legs', /Only conductor was right on 6/],
      ['/money', '2026-11-01'],
    ] as const;
    // The upper part arrives last, after the lower part was painted.
    await heldBack(page, '**/api/checkpoints', '**/api/nights');
    await heldBack(page, '**/api/nights/nightly/2026-11-21', '**/api/nights/nightly');
    for (const [path, last] of places) {
      await page.goto(site.gateway.url + path);
      await page.getByText(last).first().waitFor();
      expect([path, await page.evaluate('moved')]).toEqual([path, []]);
    }
  });

  /** Holds a response back until another one has arrived and been painted. */
  async function heldBack(page: Page, held: string, first: string): Promise<void> {
    await page.route(held, async (route) => {
      await page.waitForResponse(first);
      await page.evaluate(
        'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done))))',
      );
      await route.continue();
    });
  }

  test('if nothing was learned yet, the page says so', async () => {
    const page = await enter('Learning');
    await page.getByText('No nights yet').waitFor();
    expect(await flawsWideAndNarrow(page)).toEqual([]);
  });
});
