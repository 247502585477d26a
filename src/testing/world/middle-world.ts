import { WHOLE_WORLD } from './whole-world';
import { topicOf, type Topic, type World } from './world';

const LAW: Topic = {
  ...topicOf(WHOLE_WORLD, 'law'),
  decoy: { worker: 'maths', shape: ['plan', 'solve'] },
};

/**
 * All topics and workers in plans of two steps at most, so that a policy soon learns to plan and is left with the
 * question of who is there to do it.
 */
export const MIDDLE_WORLD: World = {
  ...WHOLE_WORLD,
  name: 'middle',
  topics: WHOLE_WORLD.topics.map((topic) => (topic.name === LAW.name ? LAW : topic)),
  maxSteps: 2,
};
