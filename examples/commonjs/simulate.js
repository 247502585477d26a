const { mkdir, readFile, writeFile } = require('node:fs/promises');
const { startSimulatedProviders } = require('temporal-conductor/testing');

const PLAN = `model_id: [0, 1]
subtasks: ["When is the shop open on Saturday?", "Answer in a friendly way."]
access_list: [[], [0]]`;

/** Simulates the models of `conductor.yaml`, for use without a key: every question gets the same answer. */
exports.simulateModels = async () => {
  console.error(
    'OPENAI_API_KEY is not set, so both models are simulated, and each always gives the same answer.',
  );
  const providers = await startSimulatedProviders({ fallback: { answer: reply } });
  const written = await readFile('conductor.yaml', 'utf8');
  const simulated = written.replace(/^( *)provider: openai$/gm, `$&\n$1baseUrl: ${providers.url}/v1`);
  await mkdir('.conductor', { recursive: true });
  await writeFile('.conductor/simulated.yaml', simulated);
  return {
    env: { CONDUCTOR_CONFIG: '.conductor/simulated.yaml', OPENAI_API_KEY: 'simulated' },
    close: () => providers.close(),
  };
};

/** Recognises the Conductor, whose prompt alone asks for an access list. */
function reply({ text }) {
  return text.includes('access_list') ? PLAN : 'Come by on Saturday between 10 and 14!';
}
