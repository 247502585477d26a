import { WHOLE_WORLD } from './whole-world';
import { topicOf, withWorkers, type Topic, type World } from './world';

const TRIVIA: Topic = {
  ...topicOf(WHOLE_WORLD, 'trivia'),
  decoy: { worker: 'critic', shape: ['solve', 'verify'] },
};
const ALGEBRA: Topic = {
  ...topicOf(WHOLE_WORLD, 'algebra'),
  decoy: { worker: 'quick', shape: ['plan', 'solve'] },
};

/** The smallest part of the whole world in which two topics still need different teams: learned in a minute or two. */
export const SMALL_WORLD: World = {
  ...withWorkers(WHOLE_WORLD, ['quick', 'maths', 'critic']),
  name: 'small',
  topics: [TRIVIA, ALGEBRA],
  maxSteps: 2,
};
