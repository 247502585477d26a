// Writes the bills of materials, in CycloneDX, of what is published: `npm run package` puts them beside the package. That
// of the package lists what its image holds, in the versions of package-lock.json: an npm user's own lock decides there.
// That of the trainer lists what trainer/requirements.lock installs.
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Writes both bills into a folder; to be called in the root of the repository. */
export function writeBills(folder) {
  const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
  const { name, version } = manifest;
  const write = (product, bill) =>
    writeFileSync(join(folder, `${product}-${version}.cdx.json`), `${JSON.stringify(bill, null, 2)}\n`);
  write(name, billOfPackage(manifest));
  write('temporal_conductor_trainer', billOfTrainer(version));
}

/** Asks npm, in a folder where manifest and lock are cut down as in docker/Dockerfile; offline. */
function billOfPackage(manifest) {
  const peerDependencies = { ...manifest.peerDependencies, 'node-llama-cpp': undefined };
  const shipped = {
    ...manifest,
    peerDependencies,
    peerDependenciesMeta: undefined,
    devDependencies: undefined,
  };
  const folder = mkdtempSync(join(tmpdir(), 'conductor-bill-'));
  try {
    writeFileSync(join(folder, 'package.json'), JSON.stringify(shipped));
    copyFileSync('package-lock.json', join(folder, 'package-lock.json'));
    npm(['prune', '--package-lock-only', '--ignore-scripts', '--offline', '--no-audit', '--no-fund'], folder);
    const bill = JSON.parse(npm(['sbom', '--sbom-format=cyclonedx', '--package-lock-only'], folder));
    // npm names it after the folder.
    bill.metadata.component.name = manifest.name;
    return bill;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function npm(args, cwd) {
  const shell = process.platform === 'win32';
  const { status, error, stdout, stderr } = spawnSync('npm', args, { cwd, encoding: 'utf8', shell });
  if (error) throw error;
  if (status !== 0) throw new Error(`"npm ${args.join(' ')}" failed:\n${stderr}`);
  return stdout;
}

/** Reads a lock of pip: `NAME==VERSION ; MARKER` with a line for each hash. */
function billOfTrainer(version) {
  const component = componentOf('temporal-conductor-trainer', version);
  const lock = readFileSync(join('trainer', 'requirements.lock'), 'utf8');
  // A package's hashes follow it, until the next one begins.
  const locked = lock.split(/^(?=\w)/m).flatMap((block) => {
    const [, name, each] = /^([\w.-]+)==([\w.+!-]+)/.exec(block) ?? [];
    return name === undefined ? [] : [[name, each, block]];
  });
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    serialNumber: `urn:uuid:${randomUUID()}`,
    version: 1,
    metadata: {
      timestamp: new Date().toISOString(),
      component: { ...component, licenses: [{ license: { id: 'Apache-2.0' } }] },
    },
    components: locked.map(([name, each, hashes]) => ({
      ...componentOf(name, each),
      // pip chooses one of several files by platform, and each has its own hash.
      hashes: [...hashes.matchAll(/sha256:(\w+)/g)].map(([, content]) => ({ alg: 'SHA-256', content })),
    })),
  };
}

function componentOf(name, version) {
  const purl = `pkg:pypi/${name.toLowerCase()}@${version}`;
  return { 'bom-ref': purl, type: 'library', name, version, purl };
}
