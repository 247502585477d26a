import type { Command } from 'commander';
import type { ExitCode } from '../exit-code';

/** Told what a command's exit code is to be. */
export type Settle = (code: ExitCode) => void;

/** Adds commands to the program. A command's own modules are loaded when it is called. */
export type AddCommands = (program: Command, settle: Settle) => void;

/** The option that every command takes. */
export const CONFIG = [
  '--config <file>',
  'configuration (default: $CONDUCTOR_CONFIG, then conductor.yaml)',
] as const;

/** The option that every command about training takes. */
export const RUN = ['--run <name>', 'training run (default: the one that the configuration names)'] as const;
