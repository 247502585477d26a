import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { request as ask } from 'node:http';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { listen, type Listening } from '../../src/network/listen';
import { useProxy } from '../network/forward-proxy';
import { closedPort } from '../support/closed-port';
import { testTaskQueue } from '../support/temporal';
import { poolAt } from './folder';
import { PLAN, useStage } from './stage';

const stage = useStage({ boss: { answer: PLAN }, alpha: { answer: { text: 'Paris.' } }, beta: {} });
const proxy = useProxy();
const VENDOR = 'https://vendor.example';

let vendor: Listening | undefined;
afterEach(async () => {
  await vendor?.close();
  vendor = undefined;
});

/** Serves the simulated models by HTTPS, at a name that exists for the proxy alone. Returns its authority's file. */
async function serveVendor(): Promise<string> {
  const [key, cert] = ['key.pem', 'cert.pem'].map((name) => join(stage.folder.path, name)) as [
    string,
    string,
  ];
  const name = ['-subj', '/CN=vendor.example', '-addext', 'subjectAltName=DNS:vendor.example'];
  const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', ...name];
  execFileSync('openssl', [...made, '-keyout', key, '-out', cert], { stdio: 'ignore' });
  const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (request, response) => {
    const { method, headers, url = '' } = request;
    const onward = ask(`${stage.providers.url}${url}`, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    request.pipe(onward);
  });
  vendor = await listen(server, 0, '127.0.0.1');
  proxy.leadsTo.set('vendor.example:443', new URL(vendor.url).host);
  await stage.folder.write('conductor.yaml', poolAt(VENDOR));
  return cert;
}

const withPassword = () => proxy.url.replace('//', '//user:secret-word@');

test("a solve on this machine, with the folder's own server, asks no proxy", async () => {
  const gone = `http://127.0.0.1:${await closedPort()}`;
  const env = { http_proxy: gone, https_proxy: gone, all_proxy: gone, NODE_USE_ENV_PROXY: '1' };
  const { code, stdout, stderr } = await stage.start(['solve', 'Where?'], { env }).ended;
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'Paris.\n' });
  expect(stderr).not.toMatch(/proxy|ECONNREFUSED/i);
});

test('a vendor is asked through a tunnel of HTTPS_PROXY, whose password nothing shows', async () => {
  const env = { NODE_EXTRA_CA_CERTS: await serveVendor(), HTTPS_PROXY: withPassword() };
  const { code, stdout, stderr } = await stage.start(['solve', 'Where?'], { env }).ended;
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'Paris.\n' });
  expect(new Set(proxy.passed)).toEqual(new Set(['CONNECT vendor.example:443']));
  const shown = await stage.start(['doctor'], { env }).ended;
  expect(shown.stdout).toMatch(
    new RegExp(`✓ Proxy +https://vendor\\.example through the proxy ${proxy.url} \\(HTTPS_PROXY\\)`),
  );
  expect(stderr + shown.stdout + shown.stderr).not.toContain('secret-word');
});

test('doctor shows which proxy serves which address, what is asked directly, and why one fails', async () => {
  const [gone, served] = [`http://127.0.0.1:${await closedPort()}`, 'http://own.example/v1'];
  const worker = { provider: 'openai', model: 'alpha' } as const;
  await stage.folder.write('conductor.yaml', {
    conductor: { ...worker, baseUrl: `${stage.providers.url}/v1` },
    workers: [
      { ...worker, id: 'a', baseUrl: served, proxy: proxy.url },
      { ...worker, id: 'b', baseUrl: 'http://other.example/v1' },
    ],
  });
  proxy.leadsTo.set('own.example', new URL(stage.providers.url).host);
  const { code, stdout } = await stage.start(['doctor'], { env: { HTTP_PROXY: gone } }).ended;
  expect(stdout).toContain(`http://own.example through the proxy ${proxy.url} (proxy)`);
  expect(stdout).toContain(`http://other.example through the proxy ${gone} (HTTP_PROXY)`);
  expect(stdout).toMatch(new RegExp(`· Proxy +${stage.providers.url} directly`));
  expect(stdout).toMatch(new RegExp(`✓ Models +${served} has alpha`));
  expect(stdout.replace(/\s+/g, ' ')).toContain(
    `✗ Models http://other.example/v1 could not be reached (the proxy ${gone} (HTTP_PROXY): connect ECONNREFUSED`,
  );
  expect(code).toBe(1);
});

test('a remote Temporal is reached through the proxy by a solve and its worker', async () => {
  const address = 'temporal.example:7233';
  proxy.leadsTo.set(address, process.env.TEST_TEMPORAL_ADDRESS ?? '');
  const temporal = { taskQueue: testTaskQueue() };
  await stage.folder.write('conductor.yaml', poolAt(stage.providers.url, { temporal }));
  const env = { TEMPORAL_ADDRESS: address, HTTP_PROXY: withPassword() };
  const { code, stdout } = await stage.start(['solve', 'Where?'], { env }).ended;
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'Paris.\n' });
  expect(new Set(proxy.passed)).toEqual(new Set([`CONNECT ${address}`]));
});
