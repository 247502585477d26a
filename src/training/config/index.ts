export { readExamples } from './few-shot';
export { loadTrainableConfig, parseTrainable, readProfile, shippedProfiles } from './load';
export { resolveTraining, trainingOf, type TrainingSettings } from './resolve';
export { type TrainableConfig, type TrainingConfig, trainingSchema } from './schema';
