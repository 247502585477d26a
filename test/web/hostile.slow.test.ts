import fc from 'fast-check';
import type { Page } from 'playwright-core';
import { step, useStage } from '../support/stage';
import { describeInChromium } from './browser';
import { answerOf, ask, usePage } from './use-page';

jest.setTimeout(240_000);

/** Texts that, unless shown as text, would set `window.hit`, load something, or change or reverse the page. */
const ATTACKS = [
  '<script>window.hit = 1</script>',
  '<img src=x onerror="window.hit = 1">',
  '<iframe srcdoc="<script>parent.hit = 1</script>"></iframe>',
  '<svg onload="window.hit = 1"><a xlink:href="javascript:window.hit=1">x</a></svg>',
  '<a href="javascript:window.hit = 1">x</a>',
  '<style>* { display: none }</style>',
  '<base href="https://example.org/"><link rel=stylesheet href=https://example.org/x.css>',
  '<form action=https://example.org/x><input name=a autofocus onfocus="window.hit = 1"></form>',
  '<details open ontoggle="window.hit = 1">x</details>',
  '[a](javascript:window.hit=1)',
  '[b](JaVaScRiPt:window.hit=1)',
  '[c](java\tscript:window.hit=1)',
  '[d](&#106;avascript:window.hit=1)',
  '[e](data:text/html,<script>parent.hit=1</script>)',
  '[f](vbscript:x "title" )',
  '<javascript:window.hit=1>',
  '[g]: javascript:window.hit=1\n\n[g]',
  '![pixel](https://example.org/pixel.png)',
  '![h](javascript:window.hit=1)',
  '![i][j]\n\n[j]: https://example.org/i.png "x"',
  '[k](https://example.org/x" onmouseover="window.hit=1)',
  '[l](//example.org/x)',
  '| a | b |\n|---|---|\n| <b onclick=window.hit=1>x</b> | [m](javascript:window.hit=1) |',
  '```html\n<script>window.hit = 1</script>\n```',
  '`<img src=x onerror=window.hit=1>`',
  'plain \u001b[31mred\u001b[0m \u202egnp.exe \u2066x\u2069 \u200b \u0000 \ufeff end',
  '\u202e](1=tih.wodniw:tpircsavaj)[',
  '- [x] <input type=checkbox onchange=window.hit=1>',
  '<!-- <script>window.hit = 1</script> --><![CDATA[ <b>x</b> ]]>',
  '<math><mtext></p><style><img src=x onerror=window.hit=1></style></mtext></math>',
];

/** Texts around an attack, which may change how it is parsed. */
const AROUND = [
  '\n\n',
  '\n',
  ' ',
  '\n> ',
  '\n* ',
  '\n1. ',
  '**',
  '`',
  '[',
  '](',
  '<',
  '\\',
  '\n    ',
  '\n# ',
  '&lt;',
  '|',
];

const hostileTexts = fc
  .array(fc.tuple(fc.constantFrom(...AROUND), fc.constantFrom(...ATTACKS)), { minLength: 15, maxLength: 40 })
  .map((parts) => parts.flat().join(''));

/** Elements allowed in a rendered answer: none that load, run, send or style anything. */
const HARMLESS = new Set(
  'A BLOCKQUOTE BR CODE DEL DIV EM H1 H2 H3 H4 H5 H6 HR LI OL P PRE SPAN STRONG SUP SECTION TABLE TBODY TD TH THEAD TR UL BUTTON'.split(
    ' ',
  ),
);

interface Found {
  readonly hasHit: boolean;
  readonly tags: readonly string[];
  readonly links: readonly string[];
  readonly handlers: readonly string[];
  readonly text: string;
}

/** Script that reports what an answer did to the page. */
const LOOK = `(() => {
  const all = [...document.querySelectorAll('.answer *')];
  return {
    hasHit: 'hit' in window,
    tags: [...new Set(all.map(({ tagName }) => tagName))],
    links: all.flatMap((each) => each.getAttribute('href') ?? []),
    handlers: all.flatMap((each) => each.getAttributeNames().filter((name) => name.startsWith('on') || name === 'style' || name === 'src')),
    text: document.body.innerText,
  };
})()`;

// eslint-disable-next-line no-control-regex
const INVISIBLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u200b\u202a-\u202e\u2066-\u2069\ufeff]/;

describeInChromium('hostile texts, in Chromium', () => {
  const stage = useStage({ workers: ['a'] });
  const site = usePage(stage);

  async function show(page: Page, text: string): Promise<Found> {
    stage.plan([step('a', text.slice(0, 500))]);
    stage.providers.answer('a', text);
    await page.goto(`${site.gateway.url}/`);
    await ask(page, text.slice(0, 200).replaceAll('\n', ' '));
    await page.locator('.state-done').waitFor();
    await answerOf(page).getByRole('button', { name: 'Plain text' }).waitFor();
    await page.locator('.step').first().click();
    await page.getByRole('region', { name: 'Step 1' }).waitFor();
    return page.evaluate<Found>(LOOK);
  }

  test('shows whatever a model writes as text, and executes and loads nothing', async () => {
    await stage.whileWorking(async () => {
      const page = await site.enter();
      const check = async (text: string): Promise<void> => {
        const { hasHit, tags, links, handlers, text: shown } = await show(page, text);
        expect(hasHit).toBe(false);
        expect(tags.filter((tag) => !HARMLESS.has(tag))).toEqual([]);
        expect(links.filter((href) => !/^(?:https?:|mailto:)/.test(href))).toEqual([]);
        expect(handlers).toEqual([]);
        expect(INVISIBLE.exec(shown)).toBeNull();
      };
      await check(ATTACKS.join('\n\n'));
      await fc.assert(fc.asyncProperty(hostileTexts, check), { numRuns: 12, endOnFailure: true });
    });
  });
});
