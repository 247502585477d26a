// TLS proxy in front of Temporal: node tls.mjs PORT CERTIFICATE KEY

import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { createServer } from 'node:tls';

const [port, cert, key] = process.argv.slice(2);

createServer({ cert: readFileSync(cert), key: readFileSync(key), ALPNProtocols: ['h2'] }, (client) => {
  const temporal = connect(7233, '127.0.0.1');
  client.pipe(temporal).pipe(client);
  client.on('error', () => temporal.destroy());
  temporal.on('error', () => client.destroy());
}).listen(Number(port), '0.0.0.0');
