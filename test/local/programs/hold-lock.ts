/** Takes the lock of the folder it is given, and holds it until a line comes. */
import { once } from 'node:events';
import { withFolderLock } from '../../../src/local/lease';

const tell = (word: string): void => {
  console.log(JSON.stringify(word));
};

async function main(): Promise<void> {
  const [folder = '.'] = process.argv.slice(2);
  await withFolderLock(
    folder,
    (line) => {
      tell(line);
    },
    async () => {
      tell('in');
      await once(process.stdin, 'data');
      tell('out');
    },
  );
  process.exit(0);
}

void main();
