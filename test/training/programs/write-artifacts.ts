import { ArtifactFolder } from '../../../src/training/artifacts';

// Writes one artifact again and again, each time filled with another letter, until it is killed.
const [root = '', key = '', bytes = ''] = process.argv.slice(2);

async function writeForEver(): Promise<void> {
  const files = new ArtifactFolder(root);
  for (let round = 0; ; round += 1) {
    await files.write(key, Buffer.alloc(Number(bytes), 97 + (round % 26)));
    if (round === 0) process.send?.('written');
  }
}

void writeForEver();
