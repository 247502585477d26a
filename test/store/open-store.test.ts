import { join } from 'node:path';
import { readStoreUrl } from '../../src/config/store-url';
import { openStore } from '../../src/store/open-store';

test.each([
  ['sqlite:.conductor/store.db', `sqlite:${join('/home/me', '.conductor/store.db')}`],
  ['sqlite:/var/store.db', 'sqlite:/var/store.db'],
  ['postgres://me@db.example:5433/work', 'postgres://me@db.example:5433/work'],
  ['postgresql:///work?host=/run/postgresql', 'postgresql:///work?host=/run/postgresql'],
  [
    'postgres://me:s%40cret@db/work?schema=a&sslmode=require',
    'postgres://me@db/work?schema=a&sslmode=require',
  ],
  ['s3://bucket', 's3://bucket'],
  ['s3://bucket/', 's3://bucket'],
  ['s3://my.bucket-1/team/a/', 's3://my.bucket-1/team/a'],
])('%s is a store', (url, opened) => {
  expect(openStore(url, '/home/me').url).toBe(opened);
});

test.each([
  '',
  'file:store',
  'sqlite:',
  'sqlite:store.db?sync=full',
  '/var/store',
  's3://',
  'postgres://db',
  'postgres://db/',
  'postgres://db/work/more',
  'postgres://db/work?schema=Work',
  'postgres://db/work?schema=a%22b',
  'postgres://db/work?sslmode=prefer',
  'postgres://db/work?sslmode=verify-full&sslmode=disable',
  'postgres:///work',
  'postgres://db,evil.example/work',
  'postgres://%2ftmp/work',
  'postgres://db/work?options=-c%20x',
  's3://b',
  's3://Bucket/prefix',
  's3://bucket/../other',
  's3://bucket//prefix',
  's3://bucket/prefix?versionId=1',
  'https://bucket.s3.amazonaws.com/prefix',
])('%j is refused with what is expected', (url) => {
  expect(() => openStore(url, '/home/me')).toThrow(
    `store ${JSON.stringify(url)} is none: expected sqlite:PATH, postgres://USER@HOST/DATABASE or s3://BUCKET/PREFIX`,
  );
});

test.each([
  'postgres://me:secret@db',
  'postgres://me:se/cret@db/work',
  'postgres://me:se?cret@db/work',
  'postgres://me:sec@ret@db/work/x',
  'postgres://me@db/work?password=secret',
])('the password in %j is not shown', (url) => {
  const refused: unknown = (() => {
    try {
      return openStore(url, '/home/me').url;
    } catch (error) {
      return error;
    }
  })();
  expect(String(refused)).toContain('postgres://me@');
  expect(String(refused)).not.toMatch(/sec|ret/);
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
])('%s is spoken to with sslmode %s', (url, mode) => {
  const place = readStoreUrl(url);
  const connection = place?.kind === 'postgres' ? place.connection : '';
  expect(new URL(connection).searchParams.get('sslmode')).toBe(mode);
});
