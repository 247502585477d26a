import { join } from 'node:path';
import { openStore } from '../../src/store/open-store';

test.each([
  ['file:.conductor/store', `file:${join('/home/me', '.conductor/store')}`],
  ['file:/var/store', 'file:/var/store'],
  ['sqlite:.conductor/store.db', `sqlite:${join('/home/me', '.conductor/store.db')}`],
  ['sqlite:/var/store.db?sync=full', 'sqlite:/var/store.db'],
  ['s3://bucket', 's3://bucket'],
  ['s3://bucket/', 's3://bucket'],
  ['s3://my.bucket-1/team/a/', 's3://my.bucket-1/team/a'],
])('%s is a store', (url, opened) => {
  expect(openStore(url, '/home/me').url).toBe(opened);
});

test.each([
  '',
  'file:',
  'sqlite:',
  'sqlite:store.db?sync=often',
  '/var/store',
  's3://',
  's3://b',
  's3://Bucket/prefix',
  's3://bucket/../other',
  's3://bucket//prefix',
  's3://bucket/prefix?versionId=1',
  'https://bucket.s3.amazonaws.com/prefix',
])('%j is refused with what is expected', (url) => {
  expect(() => openStore(url, '/home/me')).toThrow(
    `store ${JSON.stringify(url)} is none: expected sqlite:PATH, s3://BUCKET/PREFIX or file:PATH`,
  );
});
