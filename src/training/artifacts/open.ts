import { readStoreUrl } from '../../config/store-url';
import { configuredKeys } from '../../encryption/key-ring';
import { nameOfKey, sealContent } from '../../encryption/seal';
import { S3Store } from '../../store/s3-store';
import type { Files } from '../../store/store';
import { trainingOf } from '../config/resolve';
import type { TrainableConfig } from '../config/schema';
import { ArtifactFolder } from './folder';

/** Writes prompts and answers. */
export type SealedFiles = Pick<Files, 'write'>;

/**
 * The artifacts of a configuration, to write what is encrypted where it says so. Weights are never encrypted by us.
 *
 * @throws ConfigError where the configuration has no `training:`
 */
export function openSealed(config: TrainableConfig): SealedFiles {
  const files = openFiles(trainingOf(config).artifacts);
  const first = configuredKeys(config)?.first;
  if (first === undefined) return files;
  return {
    write: (key, bytes) => files.write(nameOfKey(key, first), sealContent(bytes, key, first)),
  };
}

/** @param url a folder, from the current one, or a bucket */
export function openFiles(url: string): Files {
  const place = readStoreUrl(url);
  return place?.kind === 's3' ? new S3Store(place) : new ArtifactFolder(url);
}
