import type { ConductorConfig } from './config-schema';

/** Who writes plans, as commands say it: `openai gpt-6-sol`, `policy nightly/000040`. */
export function describeConductor(conductor: ConductorConfig): string {
  return conductor.provider === 'policy'
    ? `policy ${conductor.checkpoint ?? '(the checkpoint that serves)'}`
    : `${conductor.provider} ${conductor.model}`;
}
