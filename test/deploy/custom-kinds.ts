// Schemas of the kinds that Kubernetes itself does not know, as far as our manifests use them: after the definitions of
// Temporal's worker controller (temporal.io/v1alpha1, 7 August 2026) and of KEDA (keda.sh/v1alpha1, 20 August 2026).

const text = { type: 'string', minLength: 1 } as const;
const name = { type: 'string', pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$', maxLength: 63 } as const;
/** A duration as Go writes it. */
const duration = { type: 'string', pattern: '^([0-9]+(s|m|h))+$' } as const;
const count = { type: 'integer', minimum: 0 } as const;

function object(properties: object, required: readonly string[] = Object.keys(properties)): object {
  return { type: 'object', properties, required, additionalProperties: false };
}

function kindOf(apiVersion: string, kind: string, spec: object): object {
  const metadata = object({ name, labels: { type: 'object' } });
  return object({ apiVersion: { const: apiVersion }, kind: { const: kind }, metadata, spec });
}

const step = object({
  rampPercentage: { type: 'integer', minimum: 1, maximum: 99 },
  pauseDuration: duration,
});

/** What KEDA's trigger `temporal` takes; every value is a text. */
const trigger = {
  endpoint: text,
  namespace: text,
  taskQueue: text,
  queueTypes: { type: 'string', pattern: '^(workflow|activity|nexus)(,(workflow|activity|nexus))*$' },
  targetQueueSize: { type: 'string', pattern: '^[0-9]+$' },
  activationTargetQueueSize: { type: 'string', pattern: '^[0-9]+$' },
  enableTLS: { enum: ['true', 'false'] },
  tlsServerName: text,
  workerDeploymentName: text,
  workerDeploymentBuildId: text,
};

/** JSON Schemas by kind. */
export const CUSTOM_KINDS: Readonly<Record<string, object>> = {
  Connection: kindOf(
    'temporal.io/v1alpha1',
    'Connection',
    object(
      {
        hostPort: { type: 'string', pattern: '^[a-zA-Z0-9.-]+:[0-9]+$' },
        apiKeySecretRef: object({ name, key: text }),
        mutualTLSSecretRef: object({ name }),
        tls: object({ serverName: text }),
      },
      ['hostPort'],
    ),
  ),
  WorkerDeployment: kindOf(
    'temporal.io/v1alpha1',
    'WorkerDeployment',
    object(
      {
        replicas: count,
        minReadySeconds: count,
        progressDeadlineSeconds: count,
        workerOptions: object({ connectionRef: object({ name }), temporalNamespace: text }),
        rollout: object(
          {
            strategy: { enum: ['Manual', 'AllAtOnce', 'Progressive'] },
            steps: { type: 'array', items: step, minItems: 1, maxItems: 20 },
          },
          ['strategy'],
        ),
        sunset: object({ scaledownDelay: duration, deleteDelay: duration }, []),
        // The pods are checked as those of a Deployment.
        template: { type: 'object' },
      },
      ['rollout', 'sunset', 'template', 'workerOptions'],
    ),
  ),
  ScaledObject: kindOf(
    'keda.sh/v1alpha1',
    'ScaledObject',
    object(
      {
        scaleTargetRef: object({ name }),
        pollingInterval: count,
        cooldownPeriod: count,
        minReplicaCount: count,
        maxReplicaCount: count,
        triggers: {
          type: 'array',
          minItems: 1,
          items: object(
            {
              type: { const: 'temporal' },
              metadata: object(trigger, ['endpoint', 'taskQueue']),
              authenticationRef: object({ name }),
            },
            ['type', 'metadata'],
          ),
        },
      },
      ['scaleTargetRef', 'triggers'],
    ),
  ),
};
