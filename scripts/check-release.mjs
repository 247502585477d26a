// `npm run release:check`: whether everything that names this version agrees, and dist/ holds what would be published.
// Each disagreement is one sentence. To be run on the tagged commit, after `npm run package`; uploads nothing.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

process.chdir(process.argv[2] ?? fileURLToPath(new URL('..', import.meta.url)));

const { name, version } = JSON.parse(readFileSync('package.json', 'utf8'));
const faults = [
  ...faultsOfVersions(),
  ...faultsOfChangelog(),
  ...faultsOfCommit(),
  ...faultsOfPackage(),
  ...faultsOfBills(),
];
for (const fault of faults) console.error(fault);
if (faults.length === 0) console.log(`${name} ${version} can be published.`);
process.exitCode = faults.length === 0 ? 0 : 1;

/** Compares each file that says a version of ours: what is found in it, and how often it must be there at least. */
function faultsOfVersions() {
  const manifests = readdirSync('deploy/kubernetes').map((file) => [
    `deploy/kubernetes/${file}`,
    /\bimage: temporal-conductor(?:-trainer)?:(\S+)/g,
    0,
  ]);
  const label = /^LABEL org\.opencontainers\.image\.version="?([^"\s]*)"?/gm;
  const places = [
    ['package-lock.json', new RegExp(`"name": "${name}",\\s+"version": "([^"]*)"`, 'g'), 2],
    ['trainer/pyproject.toml', /^version = "(.*)"/gm, 1],
    ['deploy/chart/Chart.yaml', /^(?:version|appVersion): (\S+)/gm, 2],
    ['docker/Dockerfile', label, 1],
    ['docker/trainer.Dockerfile', label, 1],
    ...manifests,
  ];
  return places.flatMap(([file, pattern, least]) => {
    const found = [...readFileSync(file, 'utf8').matchAll(pattern)].map(([, each]) => each);
    const other = found.filter((each) => each !== version).map((each) => `${file} says version ${each}`);
    const missing = found.length < least ? [`${file} says its version ${found.length} times`] : [];
    return [...other, ...missing].map((fault) => `${fault}, package.json ${version}.`);
  });
}

function faultsOfChangelog() {
  const [first = 'nothing'] = [...readFileSync('CHANGELOG.md', 'utf8').matchAll(/^## (.+)/gm)].map(
    ([, heading]) => heading,
  );
  if (first.split(' ')[0] === version) return [];
  return [`CHANGELOG.md begins with "${first}", not with ${version}: name there what this version brings.`];
}

function faultsOfCommit() {
  const tags = git(['tag', '--points-at', 'HEAD']).split('\n');
  const changed = git(['status', '--porcelain']).trim();
  return [
    ...(tags.includes(`v${version}`)
      ? []
      : [`No tag v${version} is at this commit: "git tag v${version}" sets it.`]),
    ...(changed === ''
      ? []
      : [`Files differ from the commit: ${changed.split('\n').slice(0, 5).join(', ')}.`]),
  ];
}

/** Compares the packed file, byte by byte, with what npm would pack of these files now. */
function faultsOfPackage() {
  const file = `dist/${name}-${version}.tgz`;
  if (!existsSync(file)) return [`${file} is missing: "npm run package" makes it.`];
  const shell = process.platform === 'win32';
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts'];
  const { stdout } = spawnSync('npm', args, { encoding: 'utf8', shell, maxBuffer: Infinity });
  const [packed] = Object.values(JSON.parse(stdout));
  const integrity = `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`;
  if (packed.integrity === integrity) return [];
  return [`${file} is not what npm would publish of these files now: run "npm run package" again.`];
}

function faultsOfBills() {
  return [name, 'temporal_conductor_trainer']
    .map((product) => `dist/${product}-${version}.cdx.json`)
    .flatMap((file) => {
      if (!existsSync(file)) return [`${file} is missing: "npm run package" makes it.`];
      const { version: said } = JSON.parse(readFileSync(file, 'utf8')).metadata.component;
      return said === version
        ? []
        : [`${file} is the bill of version ${said}, package.json says ${version}.`];
    });
}

function git(args) {
  const { status, stdout, stderr } = spawnSync('git', args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`"git ${args.join(' ')}" failed: ${stderr.trim()}`);
  return stdout;
}
