// Photographs the page of the gateway: a team at work, a plan that is edited before it runs, and an answer on a phone.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { withPalette } from './small-png.mjs';

const WIDE = { width: 1200, height: 760 };
const PHONE = { width: 390, height: 760 };

/**
 * @param {string} link one-time sign-in link
 * @param {object} asked `question`, and `slowly`, which slows its simulated models down for the pictures
 */
export async function photographPage(link, { question, slowly, folder, docs, program }) {
  const browser = await chromium.launch({ executablePath: program, args: ['--no-sandbox'] });
  try {
    const context = await browser.newContext({ viewport: WIDE, reducedMotion: 'reduce' });
    const page = await context.newPage();
    await page.goto(link);
    const ask = async (approval) => {
      await page.getByText(/starts at once/).click();
      await page.getByLabel('Depth').fill('1');
      await page.getByLabel('Approval').selectOption(approval);
      await page.getByLabel('Your question').fill(question);
      await page.keyboard.press('Enter');
      await page.waitForURL(/\/solves\/./);
    };
    const shoot = async (name) => {
      const path = join(folder, name);
      await page.screenshot({ path });
      writeFileSync(join(docs, name), withPalette(readFileSync(path)));
    };
    slowly();
    await ask('none');
    await page.locator('.answer.growing').getByText('tunings').waitFor();
    await shoot('page-solve.png');
    await page.locator('.state-done').waitFor();

    await page.emulateMedia({ colorScheme: 'dark' });
    await page.setViewportSize(PHONE);
    await page.evaluate('window.scrollTo(0, 0)');
    await shoot('page-phone.png');

    await page.setViewportSize(WIDE);
    await page.getByRole('link', { name: 'Ask', exact: true }).click();
    await ask('plan');
    await page.getByText('This plan waits for you.').waitFor();
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByRole('button', { name: 'Run this plan' }).waitFor();
    await shoot('page-plan.png');
  } finally {
    await browser.close();
  }
}
