import { join } from 'node:path';
import { readStoreUrl } from '../../src/config/store-url';
import { openStore } from '../../src/store/open-store';

test.each([
  ['sqlite:.conductor/store.db', `sqlite:${join('/home/me', '.conductor/store.db')}`],
  ['sqlite:/var/store.db', 'sqlite:/var/store.db'],
  ['postgres://me@db.example:5433/work', 'postgres://me@db.example:5433/work'],
  ['postgresql:///work?host=/run/postgresql', 'postgresql:///work?host=/run/postgresql'],
  ['postgres://me:s%40c@db/work?schema=a&sslmode=require', 'postgres://me@db/work?schema=a&sslmode=require'],
  ['s3://bucket', 's3://bucket'],
  ['s3://bucket/', 's3://bucket'],
  ['s3://my.bucket-1/team/a/', 's3://my.bucket-1/team/a'],
])('%s is a valid store', (url, opened) => {
  expect(openStore(url, '/home/me').url).toBe(opened);
});

const REFUSED = [
  ...['', 'file:store', '/var/store', 'https://bucket.s3.amazonaws.com/prefix'],
  ...['', 'store.db?sync=full'].map((rest) => `sqlite:${rest}`),
  ...['db', 'db/', '/work', 'db/work/more', 'db,evil.example/work', '%2ftmp/work'].map(ofPostgres),
  ...[
    'schema=Work',
    'schema=a%22b',
    'sslmode=prefer',
    'sslmode=verify-full&sslmode=disable',
    'options=-c%20x',
  ].map((options) => ofPostgres(`db/work?${options}`)),
  ...['', 'b', 'Bucket/prefix', 'bucket/../other', 'bucket//prefix', 'bucket/prefix?versionId=1'].map(
    (rest) => `s3://${rest}`,
  ),
];

function ofPostgres(rest: string): string {
  return `postgres://${rest}`;
}

test.each(REFUSED)('%j is refused with what is expected', (url) => {
  expect(() => openStore(url, '/home/me')).toThrow(
    `${JSON.stringify(url)} is not a store URL: expected sqlite:PATH, postgres://USER@HOST/DATABASE or s3://BUCKET/PREFIX`,
  );
});

test.each([
  'postgres://me:secret@db',
  'postgres://me:se/cret@db/work',
  'postgres://me:se?cret@db/work',
  'postgres://me:sec@ret@db/work/x',
  'postgres://me@db/work?password=secret',
])('the password in %j is not shown', (url) => {
  const open = (): unknown => openStore(url, '/home/me').url;
  expect(open).toThrow('postgres://me@');
  expect(open).not.toThrow(/sec|ret/);
});

test.each([
  ['postgres://db.example/work', 'verify-full'],
  ['postgres://127.0.0.1.example/work', 'verify-full'],
  ['postgres://db.example/work?sslmode=disable', 'disable'],
  ['postgres://db.example/work?host=/run/postgresql', 'disable'],
  ['postgres://localhost/work', 'disable'],
  ['postgres://127.0.0.1:6432/work', 'disable'],
  ['postgres://[::1]/work', 'disable'],
  ['postgres://localhost/work?sslrootcert=ca.crt', 'verify-full'],
])('%s is connected to with sslmode %s', (url, mode) => {
  const place = readStoreUrl(url);
  const connection = place?.kind === 'postgres' ? place.connection : '';
  expect(new URL(connection).searchParams.get('sslmode')).toBe(mode);
});
