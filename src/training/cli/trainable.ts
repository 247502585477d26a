import type { Config } from '../../config/schema';
import type { TrainableConfig } from '../config/schema';

/** The settings as this add-on has read them. */
export function trainable(config: Config): TrainableConfig {
  return config as TrainableConfig;
}
