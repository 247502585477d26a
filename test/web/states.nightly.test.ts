import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { renderPlan } from '../../src/plan/render';
import { step, useStage } from '../support/stage';
import { describeInChromium, flawsOf } from './browser';
import { answerOf, ask, noteTexts, usePage } from './use-page';

jest.setTimeout(240_000);

/** Folder for a picture of each state, to look at; nothing is written without it. */
const { PICTURES } = process.env;

const WORKERS = ['top-down', 'bottom-up', 'judge'];
const QUESTION = 'How many piano tuners are there in Chicago, and how sure can one be of that?';

const TOOLS_SERVER = join(__dirname, '../support/tools-server.cjs');

/** An answer of two hundred lines with code, a table, a list and a line that cannot be broken. */
const LONG_ANSWER = [
  '# About 75 tuners',
  'Chicago has **2.7 million** people; one household in twenty owns a piano.',
  '| assumption | value | effect |\n|---|---:|---|\n| households | 1,100,000 | linear |\n| pianos | 55,000 | linear |\n| tunings a year | 1 | linear |',
  '```python\ndef tuners(pianos: int, a_day: int = 4, days: int = 250) -> float:\n    return pianos / (a_day * days)  # a very long comment that runs on and on until it no longer fits beside anything else\n```',
  `- ${'unbreakable'.repeat(30)}`,
  ...Array.from(
    { length: 60 },
    (_, index) => `${index + 1}. Step ${index + 1} checks assumption ${index % 7}.`,
  ),
  ...Array.from({ length: 60 }, (_, index) => `Paragraph ${index + 1} says why this holds.`),
].join('\n\n');

const SIZES = [
  [1440, 900],
  [800, 1000],
  [390, 844],
] as const;

async function shoot(page: Page, path: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.screenshot({ path: `${path}-${colorScheme}.png` });
  }
}

/** Returns the right edge of each part, in pixels. */
async function rightEdgesOf(parts: Locator): Promise<number[]> {
  const boxes = await Promise.all((await parts.all()).map((part) => part.boundingBox()));
  return boxes.map((box) => (box === null ? 0 : box.x + box.width));
}

/** Returns the top and the bottom of each part, in pixels. */
async function verticalsOf(parts: Locator): Promise<{ readonly top: number; readonly bottom: number }[]> {
  const boxes = await Promise.all((await parts.all()).map((part) => part.boundingBox()));
  return boxes.map((box) =>
    box === null ? { top: 0, bottom: 0 } : { top: box.y, bottom: box.y + box.height },
  );
}

/** Checks what is shown at three widths in two colours: nothing is cut, and axe finds nothing. */
async function look(page: Page, name: string): Promise<void> {
  for (const [width, height] of SIZES) {
    await page.setViewportSize({ width, height });
    await page.evaluate('window.scrollTo(0, 0)');
    const widest = await page.evaluate<number>('document.documentElement.scrollWidth');
    expect({ name, widest }).toEqual({ name, widest: Math.min(widest, width) });
    if (PICTURES !== undefined) await shoot(page, join(PICTURES, `${name}-${width}`));
    expect({ name, width, flaws: await flawsOf(page) }).toEqual({ name, width, flaws: [] });
  }
}

describeInChromium('each state of a solve, in Chromium, wide and narrow, light and dark', () => {
  const stage = useStage({
    workers: WORKERS,
    config: { recursion: 'review', limits: { depth: 0 } },
  });
  const site = usePage(stage);

  function planOfThree(): void {
    stage.plan([
      step('top-down', 'Estimate from the number of households.'),
      step('bottom-up', 'Estimate from the work of one tuner.'),
      step('judge', 'Compare both estimates, and give one number.', [0, 1]),
    ]);
  }

  async function askWithApproval(page: Page): Promise<void> {
    await page.getByText(/starts at once/).click();
    await page.getByLabel('Approval').selectOption('plan');
    await ask(page, QUESTION);
  }

  test('nothing yet', async () => {
    const page = await site.enter();
    await look(page, 'ask');
    await page.getByRole('link', { name: 'Solves' }).click();
    await page.getByText('No solves yet').waitFor();
    await look(page, 'empty');
  });

  test('planning, running, done, and the list of it', async () => {
    await stage.whileWorking(async () => {
      const letPlan = stage.providers.hold('conductor');
      const letJudge = stage.providers.hold('judge');
      planOfThree();
      stage.providers.answer('judge', LONG_ANSWER);
      const page = await site.enter();
      await ask(page, QUESTION);
      await page.getByText(/The Conductor is writing a plan/).waitFor();
      await look(page, 'planning');
      letPlan();
      await page.getByRole('button', { name: /3\s*judge\s*Compare/ }).waitFor();
      await look(page, 'running');
      await page.getByLabel('Hint for the Conductor').fill('Mind the suburbs.');
      await page.getByRole('button', { name: 'Hint' }).click();
      await page.getByText(/^hint from ada: Mind the suburbs\. after .* s$/).waitFor();
      letJudge();
      await answerOf(page).getByText('About 75 tuners').waitFor();
      await page.locator('.state-done').waitFor();
      await look(page, 'done');
      await page
        .getByRole('button', { name: /1\s*top-down/ })
        .first()
        .click();
      await page.getByRole('region', { name: 'Step 1' }).waitFor();
      await look(page, 'done-step');
      await page.keyboard.press('Escape');
      // A phone that is turned leaves the team as it was: folded if the page was opened upright, else open.
      const team = page.locator('details.made-by');
      for (const [width, height] of [
        [390, 844],
        [844, 390],
      ] as const) {
        await page.setViewportSize({ width, height });
        await page.reload();
        await team.waitFor();
        const isOpen = (await team.getAttribute('open')) !== null;
        expect({ width, isOpen }).toEqual({ width, isOpen: width > height });
        await page.setViewportSize({ width: height, height: width });
        await page.getByRole('region', { name: 'Time line' }).getByRole('button').first().click();
        await page.getByRole('region', { name: /^Step/ }).waitFor();
        expect((await team.getAttribute('open')) !== null).toBe(isOpen);
        await page.keyboard.press('Escape');
      }
      await page.setViewportSize({ width: 1440, height: 900 });
      await page.getByRole('link', { name: 'Solves' }).click();
      await page.getByRole('grid').getByRole('link').waitFor();
      await look(page, 'list');
    });
  });

  test('the words of the Conductor, as it plans', async () => {
    await stage.whileWorking(async () => {
      stage.providers.answer('conductor', renderPlan({ steps: [step('judge', 'Guess.')] }, WORKERS));
      stage.providers.script('conductor', [{ fault: 'drip', ms: 2000 }]);
      const page = await site.enter();
      const words = await noteTexts(page, '.round .growing');
      await ask(page, QUESTION);
      await page.locator('.state-done').waitFor();
      expect(await words()).toContainEqual(expect.stringContaining('model_id'));
    });
  });

  test('waiting, edited, cancelled, in a browser whose clock is an hour behind', async () => {
    await stage.whileWorking(async () => {
      planOfThree();
      const page = await site.enter();
      await page.clock.setFixedTime(Date.now() - 3_600_000);
      await askWithApproval(page);
      await page.getByText('This plan waits for you.').waitFor();
      const timeLine = page.getByRole('region', { name: 'Time line' });
      await timeLine.getByText('waits for you').waitFor();
      // A bar is at least 3 pixels wide, also at the end of its track.
      const [end = 0] = await rightEdgesOf(timeLine.locator('.bar-track'));
      expect(Math.max(...(await rightEdgesOf(timeLine.locator('.bar'))))).toBeLessThan(end + 4);
      // The gateway's clock goes on, and tells how much of the time is the person's own.
      await page
        .locator('.facts')
        .getByText(/^[1-9]\d* s, [1-9]\d* s of it waiting for you$/)
        .waitFor();
      await look(page, 'waiting');
      // On a phone, what steers stays at hand, below all that is read.
      const steering = await page.getByRole('region', { name: 'Steering' }).boundingBox();
      expect((steering?.y ?? 0) + (steering?.height ?? 0)).toBeCloseTo(844, 0);
      await page.getByRole('button', { name: 'Edit' }).click();
      await page.getByRole('button', { name: 'Run this plan' }).waitFor();
      await look(page, 'editing');
      // On a small phone, the bar that steers leaves the end of the form free.
      await page.setViewportSize({ width: 390, height: 640 });
      const [run] = await verticalsOf(page.getByRole('button', { name: 'Run this plan' }));
      const [bar] = await verticalsOf(page.getByRole('region', { name: 'Steering' }));
      expect(run?.bottom).toBeLessThan(bar?.top ?? 0);
      await page.getByRole('button', { name: 'Discard changes' }).click();
      await page.getByRole('button', { name: 'Cancel', exact: true }).click();
      await page.getByRole('button', { name: 'Cancel this solve' }).click();
      await page.locator('.state-cancelled').waitFor();
      await page.getByText('It was cancelled. Select a step to run again from it.').waitFor();
      await look(page, 'cancelled');
    });
  });

  test('failed and degraded', async () => {
    await stage.whileWorking(async () => {
      planOfThree();
      stage.providers.answer('top-down', { fault: 'invalid-key' });
      const page = await site.enter();
      await ask(page, QUESTION);
      await page.locator('.state-done').waitFor();
      const causes = page.getByRole('list', { name: 'Why steps failed' }).getByRole('listitem');
      expect(await causes.allInnerTexts()).toEqual([
        expect.stringMatching(/step 1 worker top-down .*answered 401: .*start again\.$/),
      ]);
      await look(page, 'degraded');
      planOfThree();
      stage.providers.answer('bottom-up', { fault: 'invalid-key' });
      stage.providers.answer('judge', { fault: 'invalid-key' });
      await page.getByRole('link', { name: 'Ask', exact: true }).click();
      await ask(page, QUESTION);
      await page.locator('.state-failed').waitFor();
      await page
        .getByText(/no step gave an answer\. step 1: .*again\. step 2: .*again\. Select a step/)
        .waitFor();
      await look(page, 'failed');
    });
  });

  test('three rounds', async () => {
    await stage.whileWorking(async () => {
      planOfThree();
      planOfThree();
      planOfThree();
      const page = await site.enter();
      await page.getByText(/starts at once/).click();
      await page.getByLabel('Depth').fill('2');
      await ask(page, QUESTION);
      await page.locator('.state-done').waitFor();
      await page.getByRole('region', { name: 'Round 3, a review' }).waitFor();
      await look(page, 'three-rounds');
      await page.setViewportSize({ width: 1440, height: 900 });
      await page.getByRole('button', { name: 'List', exact: true }).click();
      expect(await page.locator('.plan-list .bar').count()).toBe(12);
      const names = page.getByRole('region', { name: 'Round 2, a review' }).locator('.plan-row .worker');
      expect(await names.allInnerTexts()).toEqual(['plan', '1 top-down', '2 bottom-up', '3 judge']);
      expect(await page.getByRole('region', { name: 'Time line' }).count()).toBe(0);
      await look(page, 'three-rounds-list');
    });
  });
});

describeInChromium('a team whose worker calls tools, in Chromium', () => {
  const stage = useStage({
    workers: WORKERS,
    config: {
      tools: {
        shelf: {
          mcp: { command: [process.execPath, TOOLS_SERVER], env: ['TOOLS_LOG'] },
          allow: ['look_up', 'broken', 'huge', 'read_slowly'],
          repeatable: ['look_up', 'huge'],
        },
      },
    },
    configure: ({ workers: [first, ...others], ...config }) => ({
      ...config,
      workers: first === undefined ? [] : [{ ...first, tools: ['shelf'] }, ...others],
    }),
  });
  const site = usePage(stage);

  test('its step shows each call and what came of it, as it happens', async () => {
    process.env.TOOLS_LOG = join(stage.folder, 'calls.log');
    await stage.whileWorking(async () => {
      const call = (name: string, input: object = {}) => ({ name: `shelf__${name}`, input });
      stage.plan([
        step('top-down', 'Look up where it rises.'),
        step('judge', 'Say it in one sentence.', [0]),
      ]);
      stage.providers.script('top-down', [
        {
          text: '',
          calls: [
            call('look_up', { word: 'The Danube' }),
            call('huge'),
            call('look_up', { word: '# Not a heading' }),
          ],
        },
        { text: '', calls: [call('broken'), call('read_slowly', { item: 'it' })] },
        'It rises at Donaueschingen.',
      ]);
      const page = await site.enter();
      await ask(page, QUESTION);
      const node = page.getByRole('button', { name: /1\s*top-down/ }).first();
      await node.getByText('calls shelf__read_slowly').waitFor();
      await node.getByRole('img', { name: '5 tool calls' }).waitFor();
      await node.click();
      const panel = page.getByRole('region', { name: 'Step 1' });
      await panel.getByRole('tab', { name: 'Tools 5' }).click();
      await panel.getByText('under way').waitFor();
      await look(page, 'tools-running');
      writeFileSync(`${process.env.TOOLS_LOG ?? ''}.open`, '');
      await page.locator('.state-done').waitFor();
      await page.setViewportSize({ width: 1440, height: 900 });
      await panel.getByText('Turn 2').waitFor();
      expect(await panel.getByRole('article').allInnerTexts()).toEqual([
        expect.stringMatching(
          /shelf__look_up {"word":"The Danube"} ok in .*The Danube rises at Donaueschingen\./s,
        ),
        expect.stringMatching(/shelf__huge {} ok in .*Result, [\d,]+ characters/s),
        expect.stringMatching(/shelf__look_up .* ok in .*# Not a heading rises at/s),
        expect.stringMatching(/shelf__broken {} error in .*the shelf is empty/s),
        expect.stringMatching(/shelf__read_slowly .* ok in .*Done: it\./s),
      ]);
      await panel.getByText(/Result, [\d,]+ characters/).click();
      await panel.getByText(/é{100}/).waitFor();
      await look(page, 'tools');
    });
  });
});

describeInChromium('a team of the built-in small model alone, in Chromium', () => {
  const stage = useStage({
    configure: (config) => ({
      ...config,
      workers: [{ id: 'smollm2', provider: 'local', model: 'smollm2' }],
    }),
  });
  const site = usePage(stage);

  test('the page says that its answers are weak, and what to do', async () => {
    const page = await site.enter();
    await page.getByText('a very small model answers here').waitFor();
    expect(await flawsOf(page)).toEqual([]);
  });
});
