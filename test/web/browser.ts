import { existsSync } from 'node:fs';
import axe from 'axe-core';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { createPass, KeyChecker } from '../../src/gateway/access';
import { PAGE_FOLDER } from '../../src/gateway/page';
import type { Stage } from '../support/stage';

const PROGRAMS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const program = PROGRAMS.find((path) => existsSync(path));

/** `describe` for tests that need a browser; skips them with a notice if there is none. */
export const describeInChromium = program === undefined ? describe.skip : describe;

if (program === undefined) {
  process.stderr.write('\nNO CHROMIUM IS INSTALLED HERE, AND THE TESTS OF THE PAGE ARE LEFT OUT.\n\n');
} else if (!existsSync(PAGE_FOLDER)) {
  throw new Error('the page is not built: run "npm run build:web"');
}

export function launchBrowser(): Promise<Browser> {
  // Chromium's sandbox does not work for root in a container; the pages are our own.
  return chromium.launch({ executablePath: program ?? '', args: ['--no-sandbox'] });
}

/** A reader with their own browser context, and the errors in it. */
export interface Reader {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors of the console and of scripts, and requests to other origins. */
  readonly wrong: string[];
}

export async function openReader(browser: Browser, url: string): Promise<Reader> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  // On a busy machine, what is waited for may take longer than Playwright's half a minute.
  context.setDefaultTimeout(90_000);
  const page = await context.newPage();
  const wrong: string[] = [];
  page.on('console', (message) => {
    // The browser logs every failed request; requests to a gateway that a test killed are expected to fail.
    const isOfNetwork = message.text().startsWith('Failed to load resource');
    if (message.type() === 'error' && !isOfNetwork) wrong.push(message.text());
  });
  page.on('pageerror', ({ message }) => wrong.push(message));
  page.on('dialog', (dialog) => {
    wrong.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    const asked = request.url();
    if (!asked.startsWith(`${url}/`)) wrong.push(`a request to ${asked.slice(0, 100)}`);
  });
  return { page, context, wrong };
}

/** Returns the link that `up` prints for a key. */
export async function linkFor({ store }: Stage, url: string, secret: string): Promise<string> {
  const key = await new KeyChecker(store).check(secret);
  if (key === null) throw new Error('the key does not hold');
  return `${url}/#link=${await createPass(store, 'link', key)}`;
}

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** Returns axe's findings on a page, in the light and the dark theme. */
export async function flawsOf(page: Page): Promise<string[]> {
  const flaws: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.evaluate(axe.source);
    const violations = await page.evaluate<Violation[]>('axe.run().then(({ violations }) => violations)');
    for (const { id, nodes } of violations) {
      flaws.push(
        `${colorScheme}, ${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join('; ')}`,
      );
    }
  }
  return flaws;
}
