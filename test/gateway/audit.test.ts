import { type AuditEntry, COMMAND_LINE, noteAudit, readAudit } from '../../src/gateway/access';
import { useStore } from './stage';

const stage = useStore();

beforeEach(() => {
  // The store's driver needs real timers.
  jest.useFakeTimers({
    doNotFake: ['setImmediate', 'setTimeout', 'nextTick', 'queueMicrotask', 'performance'],
  });
});
afterEach(() => jest.useRealTimers());

const START = { keyId: '0123456789', keyName: 'ci', action: 'start', target: 'gw-0123456789-x' } as const;

async function noteAt(at: string, target = START.target): Promise<void> {
  jest.setSystemTime(new Date(at));
  await noteAudit(stage.store, { ...START, target });
}

async function read(since: string, until: string): Promise<AuditEntry[]> {
  const entries = [];
  for await (const entry of readAudit(stage.store, { since, until })) entries.push(entry);
  return entries;
}

test('entries are returned as they were noted, in the order of time', async () => {
  jest.setSystemTime(new Date('2026-11-21T10:00:00.123Z'));
  await noteAudit(stage.store, { ...START, detail: { model: 'conductor', usd: 0.5 } });
  jest.setSystemTime(new Date('2026-11-21T10:00:00.124Z'));
  await noteAudit(stage.again(), { ...COMMAND_LINE, action: 'key.revoke', target: '0123456789' });
  expect(await read('2026-11-21', '2026-11-21')).toEqual([
    { ...START, at: '2026-11-21T10:00:00.123Z', detail: { model: 'conductor', usd: 0.5 } },
    { ...COMMAND_LINE, at: '2026-11-21T10:00:00.124Z', action: 'key.revoke', target: '0123456789' },
  ]);
});

test('days are UTC days, and the first and the last are included', async () => {
  const times = [
    '2026-11-30T23:59:59.999Z',
    '2026-12-01T00:00:00.000Z',
    '2026-12-02T23:59:59.999Z',
    '2026-12-03T00:00:00.000Z',
  ];
  for (const time of times) await noteAt(time);
  expect((await read('2026-12-01', '2026-12-02')).map(({ at }) => at)).toEqual(times.slice(1, 3));
  expect(await read('2026-12-04', '2026-12-31')).toEqual([]);
});

test('no entry is lost if many are noted at one moment', async () => {
  jest.setSystemTime(new Date('2026-11-21T10:00:00.000Z'));
  const targets = Array.from({ length: 40 }, (_, index) => `gw-${index}`);
  await Promise.all(targets.map((target) => noteAudit(stage.store, { ...START, target })));
  const found = (await read('2026-11-21', '2026-11-21')).map(({ target }) => target);
  expect(found.sort()).toEqual(targets.sort());
});

test('an action of a newer version is read, and an altered entry is reported as such', async () => {
  const at = '2026-11-21T10:00:00.000Z';
  const newer = { ...START, at, action: 'fine-tune' };
  await stage.store.write('gateway/audit/2026-11-21/a.json', Buffer.from(JSON.stringify(newer)));
  expect(await read('2026-11-21', '2026-11-21')).toEqual([newer]);
  await stage.store.write('gateway/audit/2026-11-21/b.json', Buffer.from('{'));
  await expect(read('2026-11-21', '2026-11-21')).rejects.toThrow(/2026-11-21\/b\.json.*was altered/);
});
