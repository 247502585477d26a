import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { ROOT } from '../newcomer/pages';

const probeSchema = z.object({ httpGet: z.object({ path: z.string(), port: z.string() }) });
const variableSchema = z.object({ name: z.string(), value: z.string().optional() });
const containerSchema = z.object({
  name: z.string(),
  image: z.string(),
  args: z.array(z.string()),
  env: z.array(variableSchema).default([]),
  ports: z.array(z.object({ name: z.string(), containerPort: z.number() })).default([]),
  startupProbe: probeSchema.optional(),
  readinessProbe: probeSchema.optional(),
  livenessProbe: probeSchema.optional(),
  lifecycle: z.object({ preStop: z.object({ sleep: z.object({ seconds: z.number() }) }) }).optional(),
  securityContext: z.object({
    allowPrivilegeEscalation: z.boolean(),
    readOnlyRootFilesystem: z.boolean().optional(),
    capabilities: z.object({ drop: z.array(z.string()) }),
  }),
  resources: z.object({
    requests: z.record(z.string(), z.string()),
    limits: z.record(z.string(), z.union([z.string(), z.number()])),
  }),
  volumeMounts: z.array(
    z.object({ name: z.string(), mountPath: z.string(), readOnly: z.boolean().optional() }),
  ),
});
export type Container = z.output<typeof containerSchema>;

const podSchema = z.object({
  automountServiceAccountToken: z.literal(false),
  terminationGracePeriodSeconds: z.number(),
  securityContext: z.object({ runAsNonRoot: z.literal(true), runAsUser: z.literal(1000) }),
  initContainers: z.array(containerSchema).default([]),
  containers: z.tuple([containerSchema]),
});

const manifestSchema = z.looseObject({
  kind: z.string(),
  metadata: z.looseObject({ name: z.string() }),
  data: z.record(z.string(), z.string()).optional(),
  spec: z
    .looseObject({
      template: z
        .object({
          metadata: z.object({ annotations: z.record(z.string(), z.string()).default({}) }),
          spec: podSchema,
        })
        .optional(),
    })
    .optional(),
});
export type Manifest = z.output<typeof manifestSchema>;
export type Template = NonNullable<NonNullable<Manifest['spec']>['template']>;

const FOLDER = join(ROOT, 'deploy', 'kubernetes');

/** Returns the objects of a text of manifests. */
export function readManifests(text: string): Manifest[] {
  return parseAllDocuments(text).map((document) => manifestSchema.parse(document.toJS()));
}

/** Returns the objects of every plain manifest, with the name of their file. */
export function allManifests(): (Manifest & { readonly file: string })[] {
  return readdirSync(FOLDER).flatMap((file) =>
    readManifests(readFileSync(join(FOLDER, file), 'utf8')).map((manifest) => ({ ...manifest, file })),
  );
}

/** Returns the template of the pods of a plain manifest. */
export function templateIn(file: string): Template {
  const template = allManifests().find((each) => each.file === file && each.spec?.template)?.spec?.template;
  if (template === undefined) throw new Error(`deploy/kubernetes/${file} has no pods`);
  return template;
}

const chartSchema = z.looseObject({ configuration: z.unknown(), trust: z.string() });

/** Returns the default values of the chart. */
export function chartValues(): z.output<typeof chartSchema> {
  return chartSchema.parse(parse(readFileSync(join(ROOT, 'deploy/chart/values.yaml'), 'utf8')));
}

/** Returns the value of an option among the arguments of a container. */
export function optionOf({ args }: Container, name: string): string | undefined {
  const at = args.indexOf(name);
  return at < 0 ? undefined : args[at + 1];
}
