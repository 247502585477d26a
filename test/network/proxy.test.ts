import { describeProxy, isLoopback, proxyFor } from '../../src/network/proxy';

const PROXY = 'http://user:hidden@proxy.example:3128';
const OTHER = 'http://other.example:8080';

function found(target: string, env: NodeJS.ProcessEnv, own?: string): string | null {
  const proxy = proxyFor(target, env, own);
  return proxy && `${proxy.address} by ${proxy.source}`;
}

test.each<[string, NodeJS.ProcessEnv, string | null]>([
  ['https://vendor.example', { HTTPS_PROXY: PROXY }, 'http://proxy.example:3128 by HTTPS_PROXY'],
  [
    'https://vendor.example',
    { https_proxy: PROXY, HTTPS_PROXY: OTHER },
    'http://proxy.example:3128 by https_proxy',
  ],
  [
    'https://vendor.example',
    { https_proxy: '', HTTPS_PROXY: PROXY },
    'http://proxy.example:3128 by HTTPS_PROXY',
  ],
  ['https://vendor.example', { HTTP_PROXY: PROXY }, null],
  ['http://vendor.example', { HTTP_PROXY: PROXY }, 'http://proxy.example:3128 by HTTP_PROXY'],
  ['http://vendor.example', { HTTPS_PROXY: PROXY }, null],
  [
    'http://vendor.example',
    { ALL_PROXY: PROXY, http_proxy: OTHER },
    'http://other.example:8080 by http_proxy',
  ],
  ['https://vendor.example', { all_proxy: PROXY }, 'http://proxy.example:3128 by all_proxy'],
  [
    'https://vendor.example',
    { HTTPS_PROXY: 'proxy.example:3128' },
    'http://proxy.example:3128 by HTTPS_PROXY',
  ],
  ['https://vendor.example', {}, null],
])('%s with %j is asked through %s', (target, env, expected) => {
  expect(found(target, env)).toBe(expected);
});

test.each([
  ['vendor.example', 'https://vendor.example', true],
  ['vendor.example', 'https://api.vendor.example', true],
  ['.vendor.example', 'https://api.vendor.example', true],
  ['*.vendor.example', 'https://api.vendor.example', true],
  ['VENDOR.example', 'https://vendor.EXAMPLE', true],
  ['vendor.example', 'https://othervendor.example', false],
  ['other.example, vendor.example', 'https://vendor.example', true],
  ['other.example vendor.example', 'https://vendor.example', true],
  ['*', 'https://vendor.example', true],
  ['vendor.example:443', 'https://vendor.example', true],
  ['vendor.example:8443', 'https://vendor.example', false],
  ['vendor.example:8443', 'https://vendor.example:8443', true],
  ['10.0.0.7', 'https://10.0.0.7', true],
  ['10.0.0.0/8', 'https://10.20.30.40:8000', true],
  ['10.0.0.0/8', 'https://11.0.0.1', false],
  ['10.0.0.0/33', 'https://10.0.0.1', false],
  ['fd00::/8', 'https://[fd00::7]:8000', true],
  ['fd00::7', 'https://[fd00::7]', true],
  ['[fd00::7]:8000', 'https://[fd00::7]:8000', true],
  ['[fd00::7]:8000', 'https://[fd00::7]', false],
  ['', 'https://vendor.example', false],
])('NO_PROXY=%s leaves out %s: %s', (list, target, isLeftOut) => {
  for (const name of ['NO_PROXY', 'no_proxy']) {
    expect(found(target, { HTTPS_PROXY: PROXY, [name]: list }) === null).toBe(isLeftOut);
  }
});

test.each([
  ...['localhost:7233', 'a.localhost', 'LOCALHOST.', '127.0.0.1', '127.200.1.9:80', '[::1]:7233'],
  ...['[::ffff:127.0.0.1]', '0.0.0.0:11434', '2130706433'],
])('%s is this machine, and never asked through a proxy', (host) => {
  const [plain, encrypted] = [`http://${host}/v1`, `https://${host}/v1`];
  expect(isLoopback(new URL(plain))).toBe(true);
  const env = { HTTP_PROXY: PROXY, HTTPS_PROXY: PROXY, ALL_PROXY: PROXY };
  expect([found(plain, env), found(encrypted, env), found(plain, {}, OTHER)]).toEqual([null, null, null]);
});

test.each(['128.0.0.1', 'localhost.example', '[::2]', '192.168.0.1'])('%s is another machine', (host) => {
  expect(isLoopback(new URL(`http://${host}`))).toBe(false);
});

test("a card's own proxy goes before the variables", () => {
  const env = { HTTPS_PROXY: PROXY, NO_PROXY: '*' };
  expect(found('https://vendor.example', env, OTHER)).toBe('http://other.example:8080 by proxy');
});

test('a proxy is shown without its password', () => {
  const proxy = proxyFor('https://vendor.example', { HTTPS_PROXY: PROXY });
  expect(proxy && describeProxy(proxy)).toBe('the proxy http://proxy.example:3128 (HTTPS_PROXY)');
});

test.each(['socks5://hidden@proxy.example', 'http://', 'http://user:hid den@:1'])(
  'a value that names no http proxy is refused, and not repeated: %s',
  (value) => {
    const look = () => proxyFor('https://vendor.example', { ALL_PROXY: value });
    expect(look).toThrow(/^ALL_PROXY is .*: expected http:\/\/host:port or https:\/\/host:port/);
    expect(look).not.toThrow(/hid/);
  },
);
