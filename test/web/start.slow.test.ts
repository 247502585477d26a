import { join } from 'node:path';
import { PLAN, useStage } from '../cli/stage';
import { describeInChromium, launchBrowser, openReader } from './browser';
import { answerOf, ask } from './use-page';

jest.setTimeout(240_000);

/** Script that `npm start` runs. */
const START = join(__dirname, '..', '..', 'scripts', 'start.mjs');

describeInChromium('npm start without a question, in Chromium', () => {
  const stage = useStage({ boss: { answer: PLAN }, alpha: { answer: 'Paris' } });

  test('prints a link to a page that takes the first question', async () => {
    const up = stage.start([], { program: START });
    const [, url = '', link = ''] = await up.hear(/^Page +(http:\S+?)\/(#link=\S+)/m);
    const browser = await launchBrowser();
    const { page, wrong } = await openReader(browser, url);
    await page.goto(`${url}/${link}`);
    const id = await ask(page, 'What is the capital of France?');
    await answerOf(page).getByText('Paris').waitFor();
    const elsewhere = await page.getByRole('link', { name: 'Temporal’s page' }).getAttribute('href');
    expect((await fetch(elsewhere ?? '')).status).toBe(200);
    expect(elsewhere).toContain(`/namespaces/default/workflows/${id}/`);
    expect(wrong).toEqual([]);
    await browser.close();
    expect((await up.end('SIGINT')).code).toBe(0);
  });
});
