import type { Browser, Locator, Page } from 'playwright-core';
import { openGateway, type TestGateway } from '../support/gateway';
import type { Stage } from '../support/stage';
import { launchBrowser, linkFor, openReader, type Reader } from './browser';

interface Site {
  readonly browser: Browser;
  readonly gateway: TestGateway;
  readonly reader: Reader;
  /** Secret of an admin key. */
  readonly secret: string;
  /** Signs the reader in, and opens the page with the question box. */
  readonly enter: (url?: string) => Promise<Page>;
}

/** Opens a new gateway and reader for each test of a file. Any error in the browser fails the test. */
export function usePage(stage: Stage): Site {
  const site = {
    enter: async (url = site.gateway.url) => {
      const { page } = site.reader;
      await page.goto(await linkFor(stage, url, site.secret));
      await page.getByLabel('Your question').waitFor();
      return page;
    },
  } as { -readonly [Name in keyof Site]: Site[Name] };
  beforeAll(async () => {
    site.browser = await launchBrowser();
  });
  afterAll(() => site.browser.close());
  beforeEach(async () => {
    site.gateway = await openGateway(stage);
    site.secret = await site.gateway.key({ name: 'ada', isAdmin: true });
    site.reader = await openReader(site.browser, site.gateway.url);
  });
  afterEach(async () => {
    await site.reader.context.close();
    await site.gateway.close();
    expect(site.reader.wrong).toEqual([]);
  });
  return site;
}

/** Asks a question on the page, and returns the solve's id from the page's address. */
export async function ask(page: Page, question: string): Promise<string> {
  await page.getByLabel('Your question').fill(question);
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/solves\/./);
  return decodeURIComponent(new URL(page.url()).pathname.slice('/solves/'.length));
}

/** Notes the texts that an element has from now on, however briefly. Returns a function that reads them. */
export async function noteTexts(page: Page, selector: string): Promise<() => Promise<string[]>> {
  await page.evaluate(`(() => {
    window.noted = [];
    new MutationObserver(() => {
      const text = document.querySelector(${JSON.stringify(selector)})?.textContent ?? '';
      if (text !== window.noted.at(-1)) window.noted.push(text);
    }).observe(document, { subtree: true, childList: true, characterData: true });
  })()`);
  return () => page.evaluate<string[]>('window.noted');
}

export function answerOf(page: Page): Locator {
  return page.getByRole('region', { name: 'Answer' });
}
