import { UsageError } from '../usage-error';

const NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;

/**
 * The training run that a command is about: the one it was given, else the configuration's.
 *
 * @throws UsageError where neither names one, or what was given is no name
 */
export function chooseRun(named: string | undefined): string {
  if (named === undefined) {
    throw new UsageError('which training run? Name it, or set training.run in the configuration');
  }
  if (NAME.test(named)) return named;
  throw new UsageError(
    `${JSON.stringify(named)} is no training run: expected up to 63 small letters, digits and dashes`,
  );
}
