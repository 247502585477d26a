import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:tls';
import { configuredServer, remedyOfTls } from '../../src/local/configured-server';
import { freshFolder } from './fresh-folder';
import { connect } from '../support/temporal';

const look = (env: NodeJS.ProcessEnv) => configuredServer('ours', env);

test('a server at TEMPORAL_ADDRESS is used, in the configured namespace, and left running', async () => {
  const users = await connect();
  try {
    const server = await look({ TEMPORAL_ADDRESS: users.address });
    const place = { address: users.address, source: 'TEMPORAL_ADDRESS' };
    expect(server).toMatchObject({ ...place, namespace: 'ours' });
    await server?.stop();
    const team = await look({ TEMPORAL_ADDRESS: users.address, TEMPORAL_NAMESPACE: 'team' });
    expect(team).toMatchObject({ ...place, namespace: 'team' });
  } finally {
    await users.close();
  }
});

test('an unreachable TEMPORAL_ADDRESS is an error, and no other server takes its place', async () => {
  await expect(look({ TEMPORAL_ADDRESS: '127.0.0.1:1' })).rejects.toThrow(
    /^nothing answers at 127\.0\.0\.1:1 \(TEMPORAL_ADDRESS\): connect ECONNREFUSED 127\.0\.0\.1:1\. Start that server, or correct its address/,
  );
});

/** Makes a self-signed certificate, which no client trusts. */
async function selfSigned(): Promise<{ readonly key: Buffer; readonly cert: Buffer }> {
  const folder = await freshFolder();
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  execFileSync(
    'openssl',
    ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', ...subject, '-keyout', key, '-out', cert],
    { stdio: 'ignore' },
  );
  return { key: readFileSync(key), cert: readFileSync(cert) };
}

test('a TLS failure is reported with a remedy', async () => {
  const server = createServer(await selfSigned());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = `localhost:${(server.address() as AddressInfo).port}`;
  try {
    await expect(look({ TEMPORAL_ADDRESS: address, TEMPORAL_TLS: 'true' })).rejects.toThrow(
      /^nothing answers at .*: self-signed certificate\. If it is the right server.*TEMPORAL_TLS_SERVER_CA_CERT_PATH/,
    );
  } finally {
    server.close();
  }
});

test.each([
  // Error of Temporal's native part on a machine without CA certificates.
  ['NativeCertsNotFound', /ca-certificates, or name a file by SSL_CERT_FILE/],
  ['ConnectError(… error: InvalidCertificate(UnknownIssuer) }))', /TEMPORAL_TLS_SERVER_CA_CERT_PATH/],
  ['write EPROTO … SSL routines:ssl3_get_record:wrong version number', /unset it and TEMPORAL_API_KEY/],
  ["Hostname/IP does not match certificate's altnames: Host: x", /TEMPORAL_TLS_SERVER_NAME/],
  ['Failed to connect (2026-11-22T16:22:43.771Z)', /set TEMPORAL_TLS to true/],
])('%s has a remedy', (reason, remedy) => {
  expect(remedyOfTls(reason)).toMatch(remedy);
});

test("an unusable setting of Temporal's own configuration is reported with its variable", async () => {
  const missing = { TEMPORAL_ADDRESS: 'localhost:1', TEMPORAL_TLS_SERVER_CA_CERT_PATH: '/missing/ca.pem' };
  await expect(look(missing)).rejects.toThrow(
    /cannot be read: ENOENT.* Correct or unset TEMPORAL_TLS_SERVER_CA_CERT_PATH=\/missing\/ca\.pem$/,
  );
  await expect(look({ TEMPORAL_PROFILE: 'nobody' })).rejects.toThrow(/unset TEMPORAL_PROFILE=nobody$/);
});

test('empty variables count as no configured server', async () => {
  expect(await look({ TEMPORAL_ADDRESS: '', TEMPORAL_TLS_SERVER_CA_CERT_PATH: '' })).toBeNull();
});
