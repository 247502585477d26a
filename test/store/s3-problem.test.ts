import { explainS3 } from '../../src/store/s3-store';

const answered = (name: string, httpStatusCode: number): object => ({
  name,
  message: 'as the server puts it',
  $metadata: { httpStatusCode },
});

test.each([
  ['a bucket of another region', answered('PermanentRedirect', 301), /another one .*: set AWS_REGION/],
  [
    'a request signed for it',
    answered('AuthorizationHeaderMalformed', 400),
    /another one .*: set AWS_REGION/,
  ],
  ['a HEAD that is refused, without a body', answered('403', 403), /access to s3:\/\/b is denied \(403\)/],
  ['credentials that have expired', answered('ExpiredToken', 400), /denied \(ExpiredToken\)/],
  [
    'a name that is not known',
    { name: 'Error', code: 'ENOTFOUND', message: 'getaddrinfo ENOTFOUND x' },
    /reached/,
  ],
  ['a silent server', { name: 'TimeoutError', message: 'no answer' }, /cannot be reached \(no answer\)/],
  [
    'anything else',
    answered('SlowDown', 503),
    /^s3:\/\/b failed with SlowDown: as the server puts it; .*try again/,
  ],
  ['no error at all', 'a string', /^s3:\/\/b failed with Error: a string; /],
])('%s', (_, error, sentence) => {
  expect(explainS3(error, 's3://b').message).toMatch(sentence);
});
