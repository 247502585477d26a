// `npm run demo`: a run with a rate limit, a killed process and a review, and its final cost.
// `npm run demo -- tools`: a run whose worker looks things up, asks a person, and is killed while it orders something.
//
// The models are simulated and follow a script. Everything else is what any user has: the command `temporal-conductor`,
// its processes, Temporal and the store.
import { REVIEW } from './review.mjs';
import { playOnStage } from './stage.mjs';
import { TOOLS } from './tools.mjs';

const DEMOS = { review: REVIEW, tools: TOOLS };

const [name = 'review'] = process.argv.slice(2);
const demo = DEMOS[name];
if (demo === undefined) {
  process.stderr.write(`There is no demo ${name}: expected one of ${Object.keys(DEMOS).join(', ')}.\n`);
  process.exitCode = 2;
} else process.exitCode = await playOnStage(demo);
