import type { Page } from 'playwright-core';
import { revokeKey } from '../../src/gateway/access';
import { startGatewayProcess } from '../durability/gateway-process';
import { readServing } from '../../src/training/client';
import { WORKFLOWS_PAGE } from '../support/gateway';
import { keepNightly } from '../support/keep-nightly';
import { step, useStage } from '../support/stage';
import { endOf, until, untilTrace } from '../support/until';
import { describeInChromium, linkFor, openReader, flawsOf } from './browser';
import { answerOf, ask, noteTexts, usePage } from './use-page';

jest.setTimeout(240_000);

const WORDS = Array.from({ length: 60 }, (_, index) => `word${index}`).join(' ');

describeInChromium('the page, in Chromium', () => {
  const stage = useStage({
    workers: ['a', 'b'],
    simulation: { models: { a: { answer: 'Eight **legs**.' }, b: { answer: WORDS } } },
    config: { recursion: 'worker' },
  });
  const site = usePage(stage);
  const { enter } = site;

  test('a link signs in once, a key signs in too, and signing out ends the session', async () => {
    const link = await linkFor(stage, site.gateway.url, site.secret);
    const { page } = site.reader;
    await page.goto(link);
    await page.getByLabel('Your question').waitFor();
    expect(page.url()).toBe(`${site.gateway.url}/`);
    // The browser may report its first paint after the page was built.
    const paint = await page.evaluate<number>(`new Promise((tell) => {
      const noted = (list) => list.getEntriesByName('first-contentful-paint').forEach(({ startTime }) => tell(startTime));
      new PerformanceObserver(noted).observe({ type: 'paint', buffered: true });
    })`);
    process.stderr.write(`First content ${Math.round(paint)} ms after the link (aim: 1000).\n`);
    await page.reload();
    await page.getByLabel('Your question').waitFor();

    const other = await openReader(site.browser, site.gateway.url);
    await other.page.goto(link);
    await other.page.getByText(/a link works once/).waitFor();
    expect(await flawsOf(other.page)).toEqual([]);
    await other.page.getByLabel('Key').fill(site.secret);
    await other.page.keyboard.press('Enter');
    await other.page.getByText('ada').waitFor();
    await other.page.getByRole('button', { name: 'Sign out' }).click();
    await other.page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await other.page.reload();
    await other.page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await other.context.cookies()).toEqual([]);
    expect(other.wrong).toEqual([]);
    await other.context.close();
  });

  test('a new solve appears, grows, streams, finishes, and is listed', async () => {
    await stage.whileWorking(async () => {
      stage.plan([step('a', 'Look.'), step('b', 'Count.', [0])]);
      stage.providers.script('b', [{ fault: 'drip', ms: 2000 }]);
      const page = await enter();
      expect(await flawsOf(page)).toEqual([]);
      const growing = await noteTexts(page, '.growing');
      await ask(page, 'How many legs has a spider?');
      await page.getByRole('heading', { name: 'How many legs has a spider?' }).waitFor();
      await page.getByRole('button', { name: /1\s*a\s*Look\./ }).waitFor();
      await answerOf(page).getByText('word59').waitFor();
      await page.locator('.state-done').waitFor();
      // The first part of the text appeared before the last.
      const isPart = (text: string): boolean => text.includes('word3 ') && !text.includes('word59');
      expect((await growing()).filter(isPart)).not.toEqual([]);
      expect(((await answerOf(page).textContent()) ?? '').split('word7 ').length).toBe(2);

      await page.getByRole('button', { name: /1\s*a\s*Look\./ }).click();
      const panel = page.getByRole('region', { name: 'Step 1' });
      await panel.locator('strong', { hasText: 'legs' }).waitFor();
      await page.getByText('What the Conductor wrote').click();
      await page
        .getByRole('group', { name: 'Reply 1' })
        .getByText(/model_id = /)
        .waitFor();
      await panel.getByRole('tab', { name: 'Prompt' }).click();
      const [sent] = stage.requestsTo('a').map(({ body }) => body);
      const prompt = (await panel.getByRole('group', { name: 'user' }).textContent()) ?? '';
      expect(prompt).toContain('How many legs has a spider?');
      expect(sent).toContain(JSON.stringify(prompt).slice(1, -1));
      expect(await flawsOf(page)).toEqual([]);
      await page.keyboard.press('Escape');
      await panel.waitFor({ state: 'detached' });

      const elsewhere = await page.getByRole('link', { name: 'Temporal’s page' }).getAttribute('href');
      expect(elsewhere).toMatch(new RegExp(`^${WORKFLOWS_PAGE}/gw-[^/]+/[0-9a-f-]{36}$`));

      await page.getByRole('link', { name: 'Solves' }).click();
      await page.getByRole('grid').getByRole('link').waitFor();
      expect(await page.getByRole('grid').getByRole('link').count()).toBe(1);
      expect(await flawsOf(page)).toEqual([]);
      await page.keyboard.press('/');
      await page.keyboard.type('nothing like it');
      await page.getByText('No solve matches').waitFor();
      await page.keyboard.press('Escape');
      await page.keyboard.press('Enter');
      await answerOf(page).getByText('word59').waitFor();

      await page.getByRole('link', { name: 'Money' }).click();
      await page.getByRole('button', { name: 'By worker' }).click();
      await page.getByRole('rowheader', { name: 'a', exact: true }).waitFor();
      expect(await flawsOf(page)).toEqual([]);
    });
  });

  test('what a model thought stands apart from what it answered', async () => {
    await stage.whileWorking(async () => {
      stage.plan([step('a', 'Look.')]);
      stage.providers.script('a', [{ text: '<think>A spider is no insect.</think>\n\nEight, as seen.' }]);
      const page = await enter();
      await ask(page, 'How many legs has a spider?');
      await answerOf(page).getByText('Eight, as seen.').waitFor();
      await page.getByRole('button', { name: /1\s*a\s*Look\./ }).click();
      const panel = page.getByRole('region', { name: 'Step 1' });
      await panel.getByText('Thoughts').click();
      await panel.getByText('A spider is no insect.').waitFor();
      expect(await answerOf(page).textContent()).not.toContain('insect');
    });
  });

  test('an invalid edit of a waiting plan is refused with the reason, and a valid one runs as edited', async () => {
    await stage.whileWorking(async () => {
      stage.plan([step('b', 'Count.')]);
      const page = await enter();
      await page.getByText(/starts at once/).click();
      await page.getByLabel('Approval').selectOption('plan');
      const id = await ask(page, 'How many legs has a spider?');
      await page
        .getByText(/This plan waits for you\..*Without a decision the run ends in \d+ (min|h)\./)
        .waitFor();
      expect(await flawsOf(page)).toEqual([]);
      await page.getByRole('button', { name: 'Edit' }).click();
      for (let more = 0; more < 5; more += 1) await page.getByRole('button', { name: 'Add a step' }).click();
      await page.getByText('Step 2 has no subtask yet.').waitFor();
      expect(await page.getByRole('button', { name: 'Run this plan' }).isDisabled()).toBe(true);
      // One step is edited at a time: the one that was added last, or that is chosen.
      await page.getByLabel('Subtask of step 6').waitFor();
      for (let added = 2; added <= 6; added += 1) {
        await page.getByRole('button', { name: `Step ${added}`, exact: true }).click();
        await page.getByLabel(`Subtask of step ${added}`).fill('More.');
      }
      expect(await page.getByLabel(/^Subtask of step/).count()).toBe(1);
      await page.locator('.editing .step').first().click();
      expect(await page.getByLabel('Subtask of step 1').inputValue()).toBe('Count.');
      await page.locator('.editing .step').last().click();
      await page.getByRole('button', { name: 'Run this plan' }).click();
      await page.getByText(/The plan was refused: .*6 steps, but at most 5 are allowed/).waitFor();
      expect(await flawsOf(page)).toEqual([]);
      for (let last = 6; last > 2; last -= 1) await page.getByLabel(`Remove step ${last}`).click();
      // With a long subtask, the refusal must number steps as the page does.
      await page.getByLabel('Subtask of step 2').fill('x'.repeat(20_000));
      await page.getByRole('button', { name: 'Run this plan' }).click();
      await page.getByText(/The subtask of step 2 has 20,?\d+ bytes/).waitFor();
      await page.getByLabel('Step 2', { exact: true }).selectOption('a');
      await page.getByLabel('Subtask of step 2').fill('Look twice.');
      await page.getByRole('checkbox', { name: 'step 1' }).uncheck();
      // Drawing a line between two steps has the same effect as ticking the box.
      await drawLine(page, 1, 2);
      await page.getByRole('checkbox', { name: 'step 1', checked: true }).waitFor();
      await drawLine(page, 1, 2);
      await page.getByRole('checkbox', { name: 'step 1', checked: false }).waitFor();
      await page.getByRole('button', { name: 'Run this plan' }).click();
      await answerOf(page).getByText('legs').waitFor();
      const { rounds } = await endOf(stage, id);
      expect(rounds[0]?.plan?.steps).toEqual([step('b', 'Count.'), step('a', 'Look twice.')]);
    });
  });

  async function drawLine(page: Page, from: number, to: number): Promise<void> {
    const port = (step: number, kind: string) =>
      page.locator(`[data-id="${step - 1}"] .react-flow__handle.${kind}`);
    await port(from, 'source').dragTo(port(to, 'target'));
  }

  test('a waiting plan is rejected, and the next one approved', async () => {
    await stage.whileWorking(async () => {
      stage.plan([step('b', 'Count.')]);
      const id = await startWaiting();
      const page = await enter();
      await page.goto(`${site.gateway.url}/solves/${id}`);
      stage.plan([step('a', 'Look.')]);
      await page.getByRole('button', { name: 'Reject' }).click();
      await page.getByLabel(/What should the next plan/).fill('Who counts sees nothing.');
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: /1\s*a\s*Look\./ }).waitFor();
      await page.getByRole('button', { name: 'Approve' }).click();
      await answerOf(page).getByText('legs').waitFor();
      expect((await endOf(stage, id)).answer).toBe('Eight **legs**.');
    });
  });

  test('a badge on every place counts what waits, as it changes, and the narrow list has room for its question', async () => {
    await stage.whileWorking(async () => {
      // The badge asks every 15 s: time is moved on instead.
      await site.reader.page.clock.install();
      const page = await enter();
      const badge = page.getByTitle('1 solve waiting for you');
      expect(await badge.count()).toBe(0);
      stage.plan([step('b', 'Count.')]);
      const id = await startWaiting();
      await page.clock.fastForward('00:15');
      await badge.waitFor();
      await page.setViewportSize({ width: 800, height: 1000 });
      await page.getByRole('link', { name: 'Solves' }).click();
      await page.getByRole('gridcell', { name: 'waits for you' }).last().waitFor();
      const question = await page.getByRole('gridcell', { name: 'How many?' }).boundingBox();
      expect(question?.width).toBeGreaterThan(150);
      await page.getByRole('link', { name: 'Money' }).click();
      await stage.client.approvePlan(id);
      await endOf(stage, id);
      await page.clock.fastForward('00:15');
      await badge.waitFor({ state: 'hidden' });
    });
  });

  async function startWaiting(): Promise<string> {
    const { id } = await stage.client.start({ question: 'How many?', approval: 'plan', live: true });
    await untilTrace(stage, id, ({ waitsFor }) => waitsFor === 'approval');
    return id;
  }

  test('a running solve takes a hint and a limit, is cancelled, and is retried from a step', async () => {
    await stage.whileWorking(async () => {
      stage.plan([step('b', 'Count.')]);
      const letGo = stage.providers.hold('b');
      const page = await enter();
      const id = await ask(page, 'How many legs has a spider?');
      await stage.providers.waitForRequest(({ model }) => model === 'b');
      await page.getByLabel('Hint for the Conductor').fill('It is no insect.');
      await page.getByRole('button', { name: 'Hint' }).click();
      await page.getByLabel('Limit in USD').fill('0.5');
      await page.getByRole('button', { name: 'Set' }).click();
      await page.getByText('of $0.5000').waitFor();
      await page.getByRole('button', { name: 'Cancel' }).click();
      await page.getByRole('button', { name: 'Cancel this solve' }).click();
      await page.getByText('It was cancelled.', { exact: false }).waitFor();
      letGo();
      expect((await endOf(stage, id)).status).toBe('cancelled');
      await page.getByRole('button', { name: /1\s*b\s*Count\./ }).click();
      await page.getByLabel('Run again from here with').selectOption('a');
      await page.getByRole('button', { name: 'Run again' }).click();
      await answerOf(page).getByText('legs').waitFor();
      expect(page.url()).not.toContain(id);
    });
  });

  test('a step that the Conductor gives to itself opens to its own team, whose plan can wait, too', async () => {
    await stage.whileWorking(async () => {
      stage.plan([step('a', 'Look.'), step('conductor', 'Weigh it.', [0])]);
      stage.plan([step('a', 'Weigh each leg.')]);
      const page = await enter();
      await page.getByText(/starts at once/).click();
      await page.getByLabel('Depth').fill('1');
      await page.getByLabel('Approval').selectOption('all');
      await ask(page, 'How many legs has a spider?');
      await page.getByRole('button', { name: 'Approve' }).click();
      const child = page.locator('details.child');
      await child.getByText('Step 2 has a team of its own: 1 round').waitFor();
      await child.getByRole('button', { name: 'Approve' }).click();
      await answerOf(page).getByText('legs').waitFor();
      await child.getByRole('button', { name: /1\s*a\s*Weigh each leg\./ }).click();
      const panel = page.getByRole('region', { name: 'Step 1' });
      await panel.getByRole('tab', { name: 'Prompt' }).click();
      await panel.getByText('Weigh each leg.').first().waitFor();
      expect(await flawsOf(page)).toEqual([]);
    });
  });

  test('lowering the depth during a run has a step answered without its own team', async () => {
    await stage.whileWorking(async () => {
      stage.plan([step('b', 'Count.'), step('conductor', 'Weigh it.', [0])]);
      const letGo = stage.providers.hold('b');
      const page = await enter();
      await page.getByText(/starts at once/).click();
      await page.getByLabel('Depth').fill('1');
      const id = await ask(page, 'How many legs has a spider?');
      await stage.providers.waitForRequest(({ model }) => model === 'b');
      const steering = page.getByRole('region', { name: 'Steering' });
      await steering.getByLabel('Depth').fill('0');
      await steering.getByRole('button', { name: 'Set' }).click();
      await until(
        () => stage.client.limits(id),
        ({ depth }) => depth === 0,
      );
      letGo();
      await page.locator('.state-done, .state-failed').waitFor();
      expect(await page.locator('details.child').count()).toBe(0);
      expect((await endOf(stage, id)).rounds.filter(({ childId }) => childId !== null)).toEqual([]);
    });
  });

  test('a conversation continues, and two runs of a question are shown side by side', async () => {
    await stage.whileWorking(async () => {
      const page = await enter();
      stage.plan([step('a', 'Look.')]);
      const first = await ask(page, 'How many legs has a spider?');
      await answerOf(page).getByText('legs').waitFor();
      stage.plan([step('b', 'Count.')]);
      await page.getByLabel('The next question').fill('And a fly?');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'And a fly?' }).waitFor();
      await answerOf(page).getByText('word59').waitFor();
      await page.getByText('Earlier conversation: 2 turns').click();
      await page.getByRole('region', { name: 'The team' }).getByText('legs').waitFor();
      expect(await flawsOf(page)).toEqual([]);
      expect(stage.requestsTo('b').map(({ body }) => JSON.stringify(body))).toEqual([
        expect.stringMatching(/How many legs has a spider.*Eight \*\*legs\*\*.*And a fly/),
      ]);

      await page.goto(`${site.gateway.url}/`);
      stage.plan([step('b', 'Guess.')]);
      await ask(page, 'How many legs has a spider?');
      await answerOf(page).getByText('word59').waitFor();
      await page.getByText('Compare').click();
      await page.setViewportSize({ width: 390, height: 844 });
      expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(390);
      await page.setViewportSize({ width: 1280, height: 800 });
      await page.getByRole('link', { name: /done.*the same question/ }).click();
      const teams = page.getByRole('row', { name: /^Plan/ }).getByRole('cell');
      await teams.first().waitFor();
      expect(await teams.allTextContents()).toEqual(['1 step: b', expect.stringMatching(/steps?: a/)]);
      const heads = page.getByRole('table', { name: 'What differs' }).getByRole('columnheader');
      expect(await heads.allTextContents()).toEqual([
        'Fact',
        expect.stringMatching(/^First solve .*\d/),
        expect.stringMatching(/^Second solve .*\d/),
      ]);
      await page.getByText(/Step by step: 0 of \d steps? matched/).click();
      const steps = page.getByRole('table', { name: 'Steps side by side' });
      await steps.getByRole('row', { name: /no match.*1 b.*Guess\..*–/ }).waitFor();
      await steps.getByRole('row', { name: /no match.*–.*1 a.*Look\./ }).waitFor();
      await page.getByText('How the answers differ').click();
      await page.locator('.changes del', { hasText: 'word59' }).waitFor();
      await page.locator('.changes ins', { hasText: 'legs' }).waitFor();
      const other = page.getByRole('region', { name: `Solve ${first}` });
      await other.getByRole('button', { name: /1\s*a\s*Look\./ }).waitFor();
      await page.getByRole('region', { name: 'Answer of the first solve' }).getByText('word59').waitFor();
      expect(await flawsOf(page)).toEqual([]);
      await other.getByRole('link', { name: 'Show only this solve' }).click();
      await page.waitForURL(`${site.gateway.url}/solves/${first}`);
    });
  });

  test('a selected step is in the address, and a part that is missing after an upgrade is told in words', async () => {
    await stage.whileWorking(async () => {
      stage.plan([step('a', 'Look.')]);
      const page = await enter();
      const id = await ask(page, 'How many legs has a spider?');
      await page.locator('.state-done').waitFor();
      await page.getByRole('button', { name: /1\s*a\s*Look\./ }).click();
      const panel = page.getByRole('region', { name: 'Step 1' });
      await panel.waitFor();
      expect(new URL(page.url()).search).toBe(`?run=${id}&round=1&step=1`);
      await page.reload();
      await panel.waitFor();
      await page.route('**/assets/learning-*', (route) => route.fulfill({ status: 404 }));
      await page.getByRole('link', { name: 'Learning' }).click();
      await page.getByText('This place cannot be shown').waitFor();
      await page.getByRole('link', { name: 'Solves' }).click();
      await page.getByRole('grid').getByRole('link').waitFor();
      // The browser reports what it was refused here.
      site.reader.wrong.length = 0;
    });
  });

  test('a wait is shown with its reason and its end, and a session ends with its key', async () => {
    await stage.whileWorking(async () => {
      stage.plan([step('b', 'Count.')]);
      const retryAfter = { ms: 8000, as: 'milliseconds' } as const;
      stage.providers.script('b', [{ fault: 'rate-limited', retryAfter }]);
      const page = await enter();
      const waits = await noteTexts(page, '.wait');
      await ask(page, 'How many legs has a spider?');
      await answerOf(page).getByText('word59').waitFor();
      expect(await waits()).toContainEqual(expect.stringMatching(/^Waiting: .*; next try in \d s$/));
      await page.getByRole('link', { name: 'Solves' }).click();
      await page.getByRole('grid').getByRole('link').waitFor();
      await revokeKey(stage.store, 'ada');
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    });
  });

  test('a failed solve says why, and what to do', async () => {
    await stage.whileWorking(async () => {
      stage.plan([step('b', 'Count.')]);
      stage.providers.answer('b', { fault: 'invalid-key' });
      const page = await enter();
      await ask(page, 'How many legs has a spider?');
      await page.getByText(/^It failed: .*401.*Select a step to run again from it\.$/).waitFor();
      expect(await flawsOf(page)).toEqual([]);
    });
  });

  test('the page recovers by itself when a gateway is killed and restarted, and shows nothing twice', async () => {
    const first = await startGatewayProcess(stage);
    const port = Number(new URL(first.url).port);
    const own = await openReader(site.browser, first.url);
    await stage.whileWorking(async () => {
      stage.plan([step('b', 'Count.')]);
      stage.providers.script('b', [{ fault: 'drip', ms: 10_000 }]);
      await own.page.goto(await linkFor(stage, first.url, site.secret));
      await own.page.getByLabel('Your question').waitFor();
      const id = await ask(own.page, 'How many legs has a spider?');
      await answerOf(own.page).getByText('word3 ').waitFor();
      await first.kill();
      await own.page.getByText('Connection lost.', { exact: false }).waitFor();
      const next = await startGatewayProcess(stage, { port });
      await answerOf(own.page).getByText('word59').waitFor();
      await own.page.getByText('Connection lost.', { exact: false }).waitFor({ state: 'detached' });
      expect((await answerOf(own.page).locator('p').textContent())?.trim()).toBe(WORDS);
      await own.page.getByRole('link', { name: 'Solves' }).click();
      await own.page.getByRole('grid').getByRole('link').waitFor();
      expect(await own.page.getByRole('grid').getByRole('link').count()).toBe(1);
      expect(stage.requestsTo('b')).toHaveLength(1);
      expect((await endOf(stage, id)).status).toBe('completed');
      await next.kill();
    });
    expect(own.wrong.filter((line) => !line.includes('net::ERR'))).toEqual([]);
    await own.context.close();
  });

  test('a checkpoint is promoted and rolled back, after the page has said what that changes', async () => {
    const { store } = stage;
    await keepNightly(store, 'It was not better.');
    const page = await enter();
    await page.getByRole('link', { name: 'Learning' }).click();
    await page.getByRole('rowheader', { name: '2026-11-21' }).waitFor();
    await page.getByText('No checkpoint serves').waitFor();
    expect(await flawsOf(page)).toEqual([]);
    await page.getByRole('button', { name: 'Promote' }).click();
    await page.getByText(/From the next solve on, nightly\/000002 plans in place of/).waitFor();
    expect(await flawsOf(page)).toEqual([]);
    expect((await readServing(store)).serving).toBeNull();
    await page.getByRole('button', { name: 'Do it' }).click();
    await page.getByRole('heading', { name: 'nightly/000002 serves' }).waitFor();
    expect((await readServing(store)).serving).toEqual({ trainRun: 'nightly', name: '000002' });
    await page.getByRole('button', { name: 'Roll back' }).click();
    await page.getByRole('button', { name: 'Do it' }).click();
    await page.getByRole('heading', { name: 'No checkpoint serves' }).waitFor();
  });

  test('a refusal by the gateway keeps what was typed, and says why', async () => {
    // No worker polls.
    const page = await enter();
    await page.getByLabel('Your question').fill('How many?');
    await page.keyboard.press('Enter');
    await page.getByText(/The question was not asked: no worker polls/).waitFor();
    expect(await page.getByLabel('Your question').inputValue()).toBe('How many?');
    await page.goto(`${site.gateway.url}/solves/gw-0000000000-x`);
    await page.getByText('This solve cannot be shown').waitFor();
    await page.goto(`${site.gateway.url}/nowhere`);
    await page.getByText('There is nothing here').waitFor();
    await page.goto(`${site.gateway.url}/solves`);
    await page.getByText('No solves yet').waitFor();
    expect(await flawsOf(page)).toEqual([]);
    await until(
      () => page.title(),
      (title) => title === 'Solves · conductor',
    );
    const { id } = await stage.client.start({ question: 'How many?' });
    await page.getByRole('gridcell', { name: 'no worker' }).waitFor();
    await page.goto(`${site.gateway.url}/solves/${id}`);
    await page.getByText(/^Waits for a worker: none polls .*Start "temporal-conductor worker"\.$/).waitFor();
    expect(await page.getByText(/is writing a plan/).count()).toBe(0);
    await stage.temporal.client.workflow.getHandle(id).terminate();
  });
});
