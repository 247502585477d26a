import { ConfigError } from './errors';
import type { Config } from './schema';

/** OpenTelemetry's common switch for texts on spans. */
const CONTENT_VARIABLE = 'OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT';

/** Its values that mean spans; ours alone carry texts, and there are no events. */
const ON_SPANS: readonly unknown[] = ['SPAN_ONLY', 'SPAN_AND_EVENT'];

/**
 * Whether spans carry prompts and answers: only if the configuration says so or, where it says nothing, the environment.
 * @throws ConfigError if only the environment does, and the configuration encrypts those texts everywhere else
 */
export function showsContent({ telemetry, encryption }: Config, env: NodeJS.ProcessEnv): boolean {
  const { content } = telemetry;
  if (content !== undefined) return content === 'spans';
  const isAsked = ON_SPANS.includes(env[CONTENT_VARIABLE]?.toUpperCase());
  if (!isAsked || encryption === undefined) return isAsked;
  throw new ConfigError(
    `${CONTENT_VARIABLE} is ${env[CONTENT_VARIABLE] ?? ''}, which puts prompts and answers on spans in plain text, and ` +
      'conductor.yaml encrypts them: unset it, or set telemetry.content: spans (or none) there',
  );
}
