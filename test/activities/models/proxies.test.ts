import { sendOnce } from '../../../src/activities/models';
import { FAILURES } from '../../../src/protocol/failures';
import { PolicyClient } from '../../../src/training/policy/client';
import { useProviders } from '../../testing/use-providers';
import { setProxies, useProxy } from '../../network/forward-proxy';
import { closedPort } from '../../support/closed-port';
import { aRequest, DIALECTS, failureOf } from './ask';

const proxy = useProxy();
const providers = useProviders({ models: { 'sim-1': { answer: { text: 'Eight.' } } } });

let hosts = 0;

/** Names a server that exists for the proxy alone; each test has its own. */
function behindProxy(): string {
  hosts += 1;
  const host = `vendor-${hosts}.example`;
  proxy.leadsTo.set(host, new URL(providers.url).host);
  return `http://${host}`;
}

afterEach(() => {
  setProxies({});
});

describe.each(DIALECTS)('$name', ({ complete, card }) => {
  test.each(['http_proxy', 'HTTP_PROXY', 'all_proxy', 'ALL_PROXY'])('is asked through %s', async (name) => {
    setProxies({ [name]: proxy.url });
    const url = behindProxy();
    expect(await complete(aRequest(card(url)))).toMatchObject({ text: 'Eight.' });
    expect(proxy.passed).toEqual([expect.stringMatching(new RegExp(`^POST ${url}/`))]);
  });

  test("is asked through the card's own proxy, whatever the variables say", async () => {
    setProxies({ HTTP_PROXY: `http://127.0.0.1:${await closedPort()}`, NO_PROXY: '*' });
    const request = aRequest({ ...card(behindProxy()), proxy: proxy.url });
    expect(await complete(request)).toMatchObject({ text: 'Eight.' });
    expect(proxy.passed).toHaveLength(1);
  });

  test('is asked directly on this machine, and where NO_PROXY says', async () => {
    setProxies({ HTTP_PROXY: proxy.url, HTTPS_PROXY: proxy.url, ALL_PROXY: proxy.url });
    expect(await complete(aRequest(card(providers.url)))).toMatchObject({ text: 'Eight.' });
    setProxies({ HTTP_PROXY: proxy.url, NO_PROXY: '.example' });
    const failure = await failureOf(complete, aRequest(card(behindProxy())));
    expect(failure?.message).toMatch(/ENOTFOUND|EAI_AGAIN/);
    expect(failure?.message).not.toContain('proxy');
    expect(proxy.passed).toEqual([]);
  });

  test.each([
    ['secret%2Dword', 'secret-word'],
    ['100%secret-word', '100%secret-word'],
  ])('opens a tunnel for what is encrypted, with the password %s', async (written, meant) => {
    setProxies({ HTTPS_PROXY: proxy.url.replace('//', `//user:${written}@`) });
    // The proxy knows no such place, and closes the connection.
    const host = `vendor-of-${meant.length}.example`;
    const failure = await failureOf(complete, aRequest(card(`https://${host}`)));
    expect(failure).toMatchObject({ type: FAILURES.unavailable, billed: 'no' });
    expect(proxy.passed).toEqual([`CONNECT ${host}:443`]);
    expect(proxy.credentials[0]).toBe(`Basic ${Buffer.from(`user:${meant}`).toString('base64')}`);
    expect(failure?.message).toContain(
      `the proxy ${proxy.url} (HTTPS_PROXY): it closed the connection unanswered`,
    );
    expect(failure?.message).not.toContain('secret-word');
  });

  test('names a proxy that cannot be reached', async () => {
    const gone = `http://127.0.0.1:${await closedPort()}`;
    setProxies({ HTTP_PROXY: gone });
    const failure = await failureOf(complete, aRequest(card(behindProxy())));
    expect(failure).toMatchObject({ type: FAILURES.unavailable, billed: 'no' });
    expect(failure?.message).toMatch(
      `could not be reached: the proxy ${gone} (HTTP_PROXY): connect ECONNREFUSED ${gone.slice(7)}. ` +
        'Check that the proxy runs and reaches this address',
    );
  });

  test.each([
    [
      'https:',
      502,
      FAILURES.unavailable,
      /the proxy \S+ \(\w+\): it answered 502\. Check that the proxy runs/,
    ],
    ['https:', 403, FAILURES.badRequest, /the proxy \S+ \(\w+\): it answered 403\. Ask its operator/],
    [
      'https:',
      407,
      FAILURES.badRequest,
      /answered 407\. It wants a password: set ALL_PROXY to http:\/\/user/,
    ],
    ['http:', 407, FAILURES.badRequest, /answered 407\. It wants a password: set ALL_PROXY to http:\/\/user/],
    ['http:', 502, FAILURES.timeout, /answered 502 through the proxy \S+ \(ALL_PROXY\): a web page\. /],
  ])('names a proxy that answers for %s with %i', async (scheme, status, type, message) => {
    setProxies({ ALL_PROXY: proxy.url });
    proxy.refuses = status;
    const failure = await failureOf(complete, aRequest(card(behindProxy().replace('http:', scheme))));
    expect(failure?.message).toMatch(message);
    expect(failure?.type).toBe(type);
    expect(failure?.message).toContain(proxy.url);
    if (type !== FAILURES.timeout) expect(failure?.billed).toBe('no');
  });

  test('refuses a variable that names no http proxy, before anything is sent', async () => {
    setProxies({ ALL_PROXY: 'socks5://127.0.0.1:9' });
    const failure = await failureOf(complete, aRequest(card(behindProxy())));
    expect(failure?.type).toBe(FAILURES.badRequest);
    expect(failure?.message).toMatch(
      /: ALL_PROXY is of the kind socks5:\/\/: expected .* Nothing was sent\.$/,
    );
  });
});

test('a policy server is asked through the proxy, which its error names', async () => {
  setProxies({ HTTP_PROXY: proxy.url });
  proxy.refuses = 407;
  const asking = new PolicyClient(`${behindProxy()}/v1`).tokenize('m', [], new AbortController().signal);
  await expect(asking).rejects.toThrow(`the proxy ${proxy.url} (HTTP_PROXY)`);
  expect(proxy.passed).toHaveLength(1);
});

test('a redirect is not followed behind a proxy either', async () => {
  setProxies({ HTTP_PROXY: proxy.url });
  proxy.refuses = 307;
  expect((await sendOnce(`${behindProxy()}/v1`)).status).toBe(307);
});
