import { UPDATE } from '../../src/training/names';
import { readServing } from '../../src/training/client';
import { openGateway } from '../support/gateway';
import { openScriptedTraining } from '../support/scripted-training';
import { describeInChromium, launchBrowser, linkFor, openReader } from './browser';

jest.setTimeout(240_000);

describeInChromium('a night while it runs, in Chromium', () => {
  test('shows its cycles, what was tried in them, and then its gate; what serves can be rolled back', async () => {
    const training = await openScriptedTraining({
      heldOut: 5,
      training: { cycles: 2 },
      trainRun: `nightly-${Date.now()}`,
    });
    const { store, trainRun, trainer } = training;
    const gateway = await openGateway(training);
    const browser = await launchBrowser();
    const { page, wrong } = await openReader(browser, gateway.url);
    let letGo = (): void => undefined;
    const isLetGo = new Promise<void>((resolve) => (letGo = resolve));
    const update = trainer[UPDATE];
    Object.assign(trainer, {
      [UPDATE]: async (request: Parameters<typeof update>[0]) => {
        if (request.cycle === 2) await isLetGo;
        return update(request);
      },
    });
    await training.whileWorking(async () => {
      await page.goto(await linkFor(training, gateway.url, await gateway.key({ isAdmin: true })));
      await page.getByRole('link', { name: 'Learning' }).click();
      await page.getByText('No nights yet').waitFor();
      const night = training.train('2026-01-10');
      const run = page.getByRole('region', { name: `Training run ${trainRun}` });
      const row = run.getByRole('row').filter({ hasText: '2026-01-10' });
      await row.getByText('still running').waitFor();
      await row.getByRole('button', { name: /^Cycle 1,/ }).click();
      const group = page.getByRole('article', { name: 'Group 1' });
      await group.getByText(/What is 6 times 7/).waitFor();
      await group.getByText(/correct/).waitFor();
      await group.getByText(/wrong/).waitFor();
      expect(await row.getByRole('button', { name: /^Cycle 2,/ }).count()).toBe(0);
      letGo();
      await night;
      await row.getByRole('button', { name: /^Cycle 2,/ }).waitFor();
      await page
        .getByRole('region', { name: 'Gate of the night 2026-01-10' })
        .getByText(/: promoted$/)
        .waitFor();
      await page.getByRole('heading', { name: `${trainRun}/000002 serves` }).waitFor();
      await page.getByRole('button', { name: 'Roll back' }).click();
      await page.getByRole('button', { name: 'Do it' }).click();
      await page.getByRole('heading', { name: 'No checkpoint serves' }).waitFor();
      expect((await readServing(store)).serving).toBeNull();
    });
    expect(wrong).toEqual([]);
    await browser.close();
    await gateway.close();
    await training.close();
  });
});
