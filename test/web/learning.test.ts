import type { Browser, Page } from 'playwright-core';
import { readGivenConfig } from '../../src/config/load';
import { resolveRun } from '../../src/config/resolve-run';
import { KeyChecker } from '../../src/gateway/access/keys';
import { openGateway, type TestGateway } from '../support/gateway';
import { useStage } from '../support/stage';
import { describeInChromium, launchBrowser, linkFor, openReader, type Reader, seriousFlaws } from './browser';
import { keepCalls, keepEvaluation, keepNextCycle, keepNights } from './kept-board';

jest.setTimeout(120_000);

describeInChromium('learning, evaluations and money, in Chromium', () => {
  const stage = useStage({ workers: ['a', 'b'] });
  let browser: Browser;
  let gateway: TestGateway;
  let reader: Reader;

  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser.close());
  beforeEach(async () => {
    gateway = await openGateway(stage);
    reader = await openReader(browser, gateway.url);
  });
  afterEach(async () => {
    await reader.context.close();
    await gateway.close();
    expect(reader.wrong).toEqual([]);
  });

  /** Opens a place as a key of that kind. */
  async function enter(place: string, isAdmin = true): Promise<Page> {
    const secret = await gateway.key({ isAdmin });
    await reader.page.goto(await linkFor(stage, gateway.url, secret));
    await reader.page.getByRole('link', { name: place }).click();
    await reader.page.getByRole('heading', { name: place, level: 1 }).waitFor();
    return reader.page;
  }

  test('SHOTS', async () => {
    await keepNights(stage.store);
    await keepEvaluation(stage.store, resolveRun(readGivenConfig(stage.config)));
    const secret = await gateway.key({ isAdmin: true, name: 'ada' });
    const id = (await new KeyChecker(stage.store).check(secret))?.id ?? '';
    await keepCalls(stage.store, id);
    const page = await enter('Learning');
    const shot = async (name: string): Promise<void> => {
      for (const width of [1440, 800, 390]) {
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
          await page.setViewportSize({ width, height: 900 });
          await page.waitForTimeout(300);
          await page.screenshot({ path: `/tmp/shots/${name}-${width}-${colorScheme}.png`, fullPage: true });
        }
      }
    };
    await page
      .getByRole('img', { name: /what was learned/ })
      .first()
      .waitFor();
    await page.getByText('against').first().waitFor();
    await shot('learning');
    await page.getByRole('button', { name: 'Cycle 8' }).click();
    await page.getByText('كم').waitFor();
    await shot('cycle');
    await page.getByRole('link', { name: 'Evaluations' }).click();
    await page.getByRole('link', { name: 'eval-legs' }).waitFor();
    await shot('evaluations');
    await page.getByRole('link', { name: 'eval-legs' }).click();
    await page.getByRole('heading', { name: /disagree/ }).waitFor();
    await shot('evaluation');
    await page.getByRole('link', { name: 'Money' }).click();
    await page.getByRole('img').first().waitFor();
    await shot('money');
    await page.getByRole('button', { name: 'By key' }).click();
    await page.getByRole('rowheader', { name: /ada/ }).waitFor();
    await shot('money-key');
    expect(await seriousFlaws(page)).toEqual([]);
  });
});
