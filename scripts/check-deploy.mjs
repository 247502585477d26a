// `npm run deploy:check`: validates the manifests of deploy/ and what the chart renders, strictly and without a cluster,
// and lints the chart. Built-in kinds are checked by their schemas (kubernetes-validate), custom ones by
// test/deploy/manifests. With `--build` it brings helm, which takes minutes once; without, and without a helm on the PATH,
// it says that the chart was left out. `--rendered FILE` keeps what the chart renders.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { cacheFolder } from '../lib/local/downloads.js';
import { preparePython } from './python-environment.mjs';

const { parseAllDocuments } = createRequire(import.meta.url)('yaml');

const HELM = 'helm.sh/helm/v3/cmd/helm@v3.22.0';
/** The oldest Kubernetes that Chart.yaml accepts. */
const OLDEST = '1.30.0';
const CUSTOM = /^(temporal\.io|keda\.sh)\//;

const { values: options, positionals } = parseArgs({
  options: { build: { type: 'boolean', default: false }, rendered: { type: 'string' } },
  allowPositionals: true,
});
const [folder = fileURLToPath(new URL('../deploy', import.meta.url))] = positionals;
const python = preparePython('deploy', ['../tools/requirements-deploy.lock'], 'about 130 MB');
const scratch = mkdtempSync(join(tmpdir(), 'conductor-deploy-'));
try {
  const plain = join(folder, 'kubernetes');
  for (const file of readdirSync(plain)) validate(readFileSync(join(plain, file), 'utf8'), file);
  const helm = findHelm();
  if (helm === null) {
    console.log('The chart was not rendered: there is no helm. "npm run deploy:check" builds one with Go.');
  } else checkChart(helm);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

function checkChart(helm) {
  const chart = join(folder, 'chart');
  run(helm, ['lint', '--strict', chart]);
  const other = join(scratch, 'values.yaml');
  writeFileSync(
    other,
    'imagePullSecrets: [{ name: registry }]\nworker: { scrape: false }\nimage: { tag: main }\n',
  );
  for (const values of [[], ['--values', other]]) {
    const rendered = run(helm, ['template', 'example', chart, '--kube-version', OLDEST, ...values]);
    validate(rendered, `chart ${values.length === 0 ? 'as it is' : 'with other values'}`);
    if (options.rendered && values.length === 0) writeFileSync(options.rendered, rendered);
  }
}

/** Validates the objects of a text. The pods of a WorkerDeployment are those of a Deployment; KEDA's object has none. */
function validate(text, name) {
  const objects = parseAllDocuments(text)
    .map((document) => document.toJS())
    .filter((object) => object !== null)
    .flatMap(({ apiVersion, kind, metadata, spec, ...more }) => {
      if (!CUSTOM.test(apiVersion)) return [{ apiVersion, kind, metadata, ...(spec && { spec }), ...more }];
      if (spec.template === undefined) return [];
      const { template } = spec;
      const selector = { matchLabels: template.metadata.labels };
      return [{ apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec: { selector, template } }];
    });
  const files = objects.map((object, index) => {
    const file = join(scratch, `${index}.json`);
    writeFileSync(file, JSON.stringify(object));
    return file;
  });
  if (files.length > 0) run(python, ['-m', 'kubernetes_validate', '--strict', '--quiet', ...files], name);
  console.log(`${name}: ${files.length} valid`);
}

function findHelm() {
  if (spawnSync('helm', ['version'], { stdio: 'ignore' }).status === 0) return 'helm';
  const bin = join(cacheFolder(), HELM.replaceAll(/[/@]/g, '-'));
  const helm = join(bin, 'helm');
  if (existsSync(helm)) return helm;
  if (!options.build) return null;
  console.error(`Building ${HELM} in ${bin}; this takes minutes …`);
  run('go', ['install', HELM], HELM, { ...process.env, GOBIN: bin });
  return helm;
}

/** Runs a program, and ends with what it said if it fails. */
function run(program, args, name = args[0], env = process.env) {
  const { status, error, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', env });
  if (error) throw error;
  if (status === 0) return stdout;
  console.error(`${name}: "${program} ${args.join(' ')}" failed:\n${stdout}${stderr}`);
  process.exit(1);
}
