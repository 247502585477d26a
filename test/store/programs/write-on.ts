import { SqliteStore } from '../../../src/store/sqlite-store';

/** Increments a counter that other processes share, and writes a row each time: `write-on.ts PATH TIMES`. */
async function writeOn(path: string, times: number): Promise<void> {
  const store = new SqliteStore(path);
  await store.create('count', Buffer.from('0'));
  for (let done = 0; done < times;) {
    const was = (await store.read('count')) ?? Buffer.alloc(0);
    const next = Number(was.toString()) + 1;
    if (!(await store.replace('count', Buffer.from(String(next)), was))) continue;
    await store.write(`rows/${next}`, Buffer.alloc(3000, next));
    process.stdout.write(`${next}\n`);
    done += 1;
  }
}

void writeOn(process.argv[2] ?? '', Number(process.argv[3]));
