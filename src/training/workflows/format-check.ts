import { ApplicationFailure } from '@temporalio/workflow';
import { MAX_WALL_CLOCK_MS } from '../../protocol/messages';
import { inWindow } from '../../workflows/in-window';
import { groupInput } from '../draw';
import * as names from '../names';
import { samplePlansFor } from './group';
import type { Night } from './night';
import { drawGroups } from './rollouts';

/**
 * Samples the plans of a training run's first questions before any worker is paid. The samples are kept, and the first
 * cycle carries them out, so that nothing is sampled twice.
 * @throws ApplicationFailure if too few replies are plans: rewards would only teach the format, at the price of a night
 */
export async function requirePlans(night: Night): Promise<void> {
  const { opened, writer } = night.state;
  const { settings, night: claimed } = opened;
  const { minFormatRate, questions } = settings;
  if (!minFormatRate || opened.done > 0) return;
  night.phase = 'are there plans?';
  const drawn = drawGroups(night, { cycle: claimed.first, writer }, 0, questions);
  const replies = await inWindow(drawn, questions, async (options) => {
    const input = groupInput(settings, options, { nanoUsd: null, wallClockMs: MAX_WALL_CLOCK_MS });
    return (await samplePlansFor(input, writer, null)).plans;
  });
  const plans = replies.flat();
  const valid = plans.filter(({ plan }) => plan !== null).length;
  if (valid >= minFormatRate * plans.length) return;
  const percent = Math.round((100 * valid) / plans.length);
  const message =
    `only ${valid} of ${plans.length} replies (${percent} %) of ${names.checkpointId(writer)} are plans, and ` +
    `training.minFormatRate is ${minFormatRate}: no worker was asked. Give it examples to begin with, "temporal-conductor ` +
    'train examples --from-prompted", then "temporal-conductor train warm-start"; or lower training.minFormatRate';
  throw ApplicationFailure.nonRetryable(message, names.CANNOT_LEARN);
}
