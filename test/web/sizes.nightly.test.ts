import { step, useStage } from '../support/stage';
import { endOf } from '../support/until';
import { describeInChromium, flawsOf } from './browser';
import { answerOf, ask, usePage } from './use-page';

jest.setTimeout(240_000);

const QUESTION = 'كم عدد أرجل العنكبوت، ولماذا؟ '.repeat(40);
const ANSWER = 'ثماني أرجل. وهذا جواب طويل بعض الشيء.\n\n'.repeat(30);
const STEPS = 50;

/** Script that finds lines which cross a step that they neither leave nor reach. */
const CROSSED = `[...document.querySelectorAll('.react-flow__edge')].flatMap((edge) => {
  const path = edge.querySelector('path');
  const [from, to] = edge.dataset.id.split('-');
  const others = [...document.querySelectorAll('.react-flow__node')].filter(({ dataset: { id } }) => id !== from && id !== to);
  const boxes = others.map((node) => node.getBoundingClientRect());
  return Array.from({ length: 40 }, (_, index) => {
    const { x, y } = path.getPointAtLength((path.getTotalLength() * index) / 39).matrixTransform(path.getScreenCTM());
    return boxes.some(({ left, right, top, bottom }) => x > left + 1 && x < right - 1 && y > top + 1 && y < bottom - 1);
  }).includes(true) ? [edge.dataset.id] : [];
})`;

const DEPTH = 20;

describeInChromium('what is large, in Chromium', () => {
  const stage = useStage({
    workers: ['a'],
    config: { recursion: 'worker', limits: { calls: 100 } },
  });
  const site = usePage(stage);

  test('fifty steps and long right-to-left texts fit, on a desktop and on a phone', async () => {
    await stage.whileWorking(async () => {
      stage.providers.answer('a', ANSWER);
      // Each step sees the two before it.
      const sees = (index: number): number[] => [index - 2, index - 1].filter((seen) => seen >= 0);
      stage.plan(Array.from({ length: STEPS }, (_, index) => step('a', `${index} ${QUESTION}`, sees(index))));
      const page = await site.enter();
      await page.getByText(/starts at once/).click();
      await page.getByLabel('Steps per plan').fill(String(STEPS));
      await ask(page, QUESTION.trim());
      await page.locator('.state-done').waitFor();
      await answerOf(page).getByText('ثماني').first().waitFor();
      for (const view of ['List', 'Graph']) {
        await page.setViewportSize({ width: 1440, height: 844 });
        await page.getByRole('button', { name: view, exact: true }).click();
        expect(await page.locator(view === 'List' ? 'button.plan-row' : '.step').count()).toBe(STEPS);
        for (const width of [1440, 800, 390]) {
          await page.setViewportSize({ width, height: 844 });
          const widest = await page.evaluate<number>('document.documentElement.scrollWidth');
          expect({ view, widest }).toEqual({ view, widest: Math.min(widest, width) });
        }
        // A list has its time line in it: a bar for the plan, and one for each step.
        const bars = await page.locator('.plan-list .bar').count();
        expect({ view, bars }).toEqual({ view, bars: view === 'List' ? STEPS + 1 : 0 });
        const lines = await page.getByRole('region', { name: 'Time line' }).count();
        expect({ view, lines }).toEqual({ view, lines: view === 'List' ? 0 : 1 });
        expect(await flawsOf(page)).toEqual([]);
      }
      expect(await page.evaluate(CROSSED)).toEqual([]);
      expect(await flawsOf(page)).toEqual([]);
      await page
        .getByRole('button', { name: /^\S*\s*50\s*a/ })
        .first()
        .click();
      await page.getByRole('region', { name: 'Step 50' }).getByText('ثماني').first().waitFor();
    });
  });

  test('twenty nested teams open one by one, even on a phone', async () => {
    await stage.whileWorking(async () => {
      for (let depth = 0; depth < DEPTH; depth += 1)
        stage.plan([step('conductor', `Go on at depth ${depth}.`)]);
      stage.plan([step('a', 'Answer it.')]);
      stage.providers.answer('a', 'The answer of the deepest team.');
      const page = await site.enter();
      await page.getByText(/starts at once/).click();
      await page.getByLabel('Depth').fill(String(DEPTH));
      await ask(page, 'How deep?');
      await answerOf(page).getByText('The answer of the deepest team.').waitFor();
      // The team is folded on a phone alone.
      await page.locator('.state-done').waitFor();
      await page.setViewportSize({ width: 390, height: 844 });
      for (let depth = 0; depth < DEPTH; depth += 1) {
        await page.locator('details.child:not([open]) > summary').click();
      }
      await page.getByRole('button', { name: /1\s*a\s*Answer it\./ }).click();
      await page
        .getByRole('region', { name: 'Step 1' })
        .getByText('The answer of the deepest team.')
        .waitFor();
      expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
      expect(await flawsOf(page)).toEqual([]);
    });
  });

  test('a megabyte of Markdown is shown without freezing the page', async () => {
    const big = '# a\n\n> * [x](y) **b** `c`\n\n'.repeat(40_000);
    await stage.whileWorking(async () => {
      stage.plan([step('a', 'Write much.')]);
      stage.providers.answer('a', big);
      const page = await site.enter();
      const id = await ask(page, 'Much?');
      await endOf(stage, id);
      await page
        .getByText(/more characters: copy the answer/)
        .first()
        .waitFor();
      await page.getByRole('link', { name: 'Solves' }).click();
      await page.getByRole('grid').getByRole('link').waitFor();
    });
  });
});
