import { readStartFailure } from '../../src/local/embedded-server';

const WRAPPED = 'could not build arguments for function "temporal".Hooks: failed to build *Server: '.repeat(
  9,
);

test.each([
  [
    'its own check',
    "Error: can't set frontend port 7001: listen tcp 127.0.0.1:7001: bind: address already in use\n",
    'listen tcp 127.0.0.1:7001: bind: address already in use',
  ],
  [
    'the HTTP API, wrapped again and again',
    `time=13:26 level=ERROR msg="error returned" error="${WRAPPED}"\n` +
      `Error: failed starting server: ${WRAPPED}failed listening for HTTP API on 127.0.0.1:7002: ` +
      'listen tcp 127.0.0.1:7002: bind: address already in use\n',
    'listen tcp 127.0.0.1:7002: bind: address already in use',
  ],
  [
    'gRPC, with the panic that follows',
    'time=13:27 level=ERROR msg="Failed to start gRPC listener" error="listen tcp 127.0.0.1:7003: bind: address already in use" service=frontend\n' +
      'panic: runtime error: invalid memory address or nil pointer dereference\n\ngoroutine 1 [running]:\nmain.main()\n',
    'listen tcp 127.0.0.1:7003: bind: address already in use',
  ],
  [
    'its web page, on Windows',
    '{"level":"FATAL","message":"listen tcp 127.0.0.1:7004: bind: Only one usage of each socket address (protocol/network address/port) is normally permitted."}',
    'listen tcp 127.0.0.1:7004: bind: Only one usage of each socket address',
  ],
])('a port that was taken from %s is seen, and nothing else is quoted', (_, log, reason) => {
  expect(readStartFailure(log)).toEqual({ reason, portTaken: true });
});

test.each([
  [
    'the error that it ends with, not the stacks behind it',
    'level=WARN msg="error in prometheus reporter" error="listen tcp 127.0.0.1:7005: bind: address already in use"\n' +
      'panic: out of luck\n\ngoroutine 1 [running]:\nmain.main()\n',
    'panic: out of luck',
  ],
  ['the last line of a program that has no such word', 'PATH=/bin\nno room\n', 'no room'],
  ['nothing, which is said', '', 'it wrote nothing'],
])('another reason is quoted: %s', (_, log, reason) => {
  expect(readStartFailure(log)).toEqual({ reason, portTaken: false });
});

test('of a long error the end is kept, where the cause stands', () => {
  const { reason } = readStartFailure(`Error: ${WRAPPED}the disk is full`);
  expect(reason).toMatch(/^… .*the disk is full$/);
  expect(reason.length).toBeLessThan(310);
});
