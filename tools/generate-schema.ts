/**
 * Writes what the decoder must know of API types: src/model/schema/generated/pod-schema.ts for what a Pod or PodList reaches (all that
 * a kubelet decodes, kept small for its start) and api-schema.ts for everything that the API server serves.
 * Usage: bin/node tools/generate-schema.ts FOLDER_WITH_OPENAPI_JSON
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'

interface Schema {
  readonly type?: string
  readonly format?: string
  readonly $ref?: string
  readonly allOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema
  readonly required?: readonly string[]
  readonly default?: unknown
  readonly 'x-kubernetes-list-map-keys'?: readonly string[]
  readonly 'x-kubernetes-list-type'?: string
  readonly 'x-kubernetes-map-type'?: string
  readonly 'x-kubernetes-patch-merge-key'?: string
  readonly 'x-kubernetes-patch-strategy'?: string
}

const POD_ROOTS = ['core.v1.Pod', 'core.v1.PodList']
const API_ROOTS = [
  'core.v1.Namespace',
  'core.v1.Pod',
  'core.v1.Node',
  'core.v1.ConfigMap',
  'core.v1.Secret',
  'core.v1.ServiceAccount',
  'core.v1.Event',
  'core.v1.Binding',
  'core.v1.PersistentVolume',
  'core.v1.PersistentVolumeClaim',
  'core.v1.Service',
  'core.v1.Endpoints',
  'discovery.v1.EndpointSlice',
  'core.v1.LimitRange',
  'core.v1.ResourceQuota',
  'policy.v1.Eviction',
  'apps.v1.ControllerRevision',
  'apps.v1.DaemonSet',
  'apps.v1.Deployment',
  'apps.v1.ReplicaSet',
  'apps.v1.StatefulSet',
  'autoscaling.v1.Scale',
  'autoscaling.v2.HorizontalPodAutoscaler',
  'batch.v1.CronJob',
  'batch.v1.Job',
  'policy.v1.PodDisruptionBudget',
  'networking.v1.Ingress',
  'networking.v1.IngressClass',
  'networking.v1.NetworkPolicy',
  'coordination.v1.Lease',
  'events.v1.Event',
  'node.v1.RuntimeClass',
  'resource.v1.DeviceClass',
  'resource.v1.ResourceClaim',
  'resource.v1.ResourceClaimTemplate',
  'resource.v1.ResourceSlice',
  'storage.v1.CSIDriver',
  'storage.v1.CSINode',
  'storage.v1.StorageClass',
  'storage.v1.VolumeAttachment',
  'certificates.v1.CertificateSigningRequest',
  'authentication.v1.TokenRequest',
  'authentication.v1.TokenReview',
  'authentication.v1.SelfSubjectReview',
  'authorization.v1.SubjectAccessReview',
  'authorization.v1.SelfSubjectAccessReview',
  'authorization.v1.LocalSubjectAccessReview',
  'authorization.v1.SelfSubjectRulesReview',
  'rbac.v1.ClusterRole',
  'rbac.v1.ClusterRoleBinding',
  'rbac.v1.Role',
  'rbac.v1.RoleBinding',
]
const EXTENSIONS = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.'
const META = 'io.k8s.apimachinery.pkg.apis.meta.v1.'
// The specifications have no files for these groups and versions.
const PRIORITY_CLASS =
  'apiVersion:string description:string globalDefault:boolean kind:string metadata:ObjectMeta preemptionPolicy:string value!:int32'
const TRUST_BUNDLE = 'apiVersion:string kind:string metadata:ObjectMeta spec!:ClusterTrustBundleSpec'
const TRUST_BUNDLE_SPEC = 'signerName:string trustBundle!:string'
// Of two versions of one group only one has the short name.
const OLD_AUTOSCALER = 'autoscaling.v1.HorizontalPodAutoscaler'
const OLD_AUTOSCALER_TYPES: Readonly<Record<string, string>> = {
  [OLD_AUTOSCALER]: `apiVersion:string kind:string metadata:ObjectMeta%e spec!:${OLD_AUTOSCALER}Spec%e status:${OLD_AUTOSCALER}Status%e`,
  [`${OLD_AUTOSCALER}Spec`]:
    'maxReplicas!:int32 minReplicas:int32 scaleTargetRef!:CrossVersionObjectReference%ae targetCPUUtilizationPercentage:int32',
  [`${OLD_AUTOSCALER}Status`]:
    'currentCPUUtilizationPercentage:int32 currentReplicas!:int32 desiredReplicas!:int32 lastScaleTime:Time observedGeneration:int64',
}
// These are written as one JSON value, not as an object with fields.
const SCALARS: Readonly<Record<string, string>> = {
  'io.k8s.apimachinery.pkg.api.resource.Quantity': 'Quantity',
  'io.k8s.apimachinery.pkg.apis.meta.v1.Time': 'Time',
  'io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime': 'Time',
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString': 'IntOrString',
  'io.k8s.apimachinery.pkg.runtime.RawExtension': 'any',
  'io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1': 'any',
  [`${EXTENSIONS}JSON`]: 'any',
  [`${EXTENSIONS}JSONSchemaPropsOrArray`]: 'any',
  [`${EXTENSIONS}JSONSchemaPropsOrBool`]: 'any',
  [`${EXTENSIONS}JSONSchemaPropsOrStringArray`]: 'any',
}

const folder = process.argv[2]
if (folder === undefined) throw new Error('Usage: generate-schema.ts FOLDER_WITH_OPENAPI_JSON')
const schemas: Record<string, Schema> = {}
for (const file of readdirSync(folder).filter((name) => name.endsWith('.json'))) {
  Object.assign(schemas, (JSON.parse(readFileSync(join(folder, file), 'utf8')) as { schemas: object }).schemas)
}

/** Gathers the types that some roots reach; with how patches and applies merge them, or without. */
class Types {
  readonly lines = new Map<string, string>()
  readonly #withMerge: boolean
  readonly #clashing: ReadonlySet<string>

  constructor(roots: readonly string[], withMerge: boolean) {
    this.#withMerge = withMerge
    const reached = new Set<string>()
    for (const root of roots) reach(root, reached)
    const short = [...reached].filter((name) => SCALARS[name] === undefined).map(lastPart)
    this.#clashing = new Set(short.filter((name, index) => short.indexOf(name) !== index))
    for (const root of roots) this.#describe(root)
  }

  /** The last part; with its group before it where two groups have a type of that name and it is not the core's. */
  #nameOf(name: string): string {
    const group = /^io\.k8s\.api\.(\w+)\./.exec(name)?.[1] ?? ''
    return this.#clashing.has(lastPart(name)) && group !== 'core' ? `${group}.${lastPart(name)}` : lastPart(name)
  }

  #typeOf(schema: Schema): string {
    const name = referenceOf(schema)
    if (name !== undefined) {
      if (SCALARS[name] !== undefined) return SCALARS[name]
      this.#describe(name)
      return this.#nameOf(name)
    }
    if (schema.type === 'array') return `[${this.#typeOf(schema.items ?? {})}]`
    if (schema.additionalProperties !== undefined) return `{${this.#typeOf(schema.additionalProperties)}}`
    if (schema.type === 'integer') return schema.format === 'int64' ? 'int64' : 'int32'
    if (schema.type === 'string') return schema.format === 'byte' ? 'bytes' : 'string'
    return schema.type ?? 'any'
  }

  /** Per field: name, ! if required, type, =default, #keys that make an item of a list unique, ~how patches merge it, %how applies do. */
  #describe(name: string): void {
    const short = this.#nameOf(name)
    if (this.lines.has(short)) return
    this.lines.set(short, '')
    const schema = schemas[name] ?? {}
    const fields = Object.entries(schema.properties ?? {}).map(([field, value]) => {
      const isRequired = schema.required?.includes(field) === true
      const keys = value['x-kubernetes-list-map-keys']
      const suffix = defaultOf(value, isRequired) + (keys === undefined ? '' : `#${keys.join(',')}`)
      const merge = this.#withMerge ? patchOf(value) + applyOf(value, isRequired) : ''
      return `${field}${isRequired ? '!' : ''}:${this.#typeOf(value)}${suffix}${merge}`
    })
    const isWhole = this.#withMerge && schema['x-kubernetes-map-type'] === 'atomic'
    this.lines.set(short, [...(isWhole ? ['%a'] : []), ...fields].join(' '))
  }
}

function lastPart(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1)
}

function referenceOf(schema: Schema): string | undefined {
  return (schema.$ref ?? schema.allOf?.[0]?.$ref)?.replace('#/components/schemas/', '')
}

function reach(name: string, reached: Set<string>): void {
  if (reached.has(name)) return
  reached.add(name)
  const follow = (schema: Schema): void => {
    const next = referenceOf(schema)
    if (next !== undefined) reach(next, reached)
    for (const inner of [schema.items, schema.additionalProperties]) if (inner) follow(inner)
  }
  Object.values(schemas[name]?.properties ?? {}).forEach(follow)
}

/** A zero default says nothing: absent and zero are the same. A boolean one is a pointer that the API fills. */
function defaultOf(schema: Schema, isRequired: boolean): string {
  const value = schema.default
  const isZero = value === undefined || value === '' || value === 0 || typeof value === 'object'
  return isZero || (value === false && isRequired) ? '' : `=${JSON.stringify(value)}`
}

/** The merge key, if any; "!" where a patch names the keys to retain. */
function patchOf(schema: Schema): string {
  const strategies = (schema['x-kubernetes-patch-strategy'] ?? '').split(',')
  if (!strategies.includes('merge') && !strategies.includes('retainKeys')) return ''
  return `~${schema['x-kubernetes-patch-merge-key'] ?? ''}${strategies.includes('retainKeys') ? '!' : ''}`
}

/**
 * "a" an object or map that has one owner, "g" one that has several although its type has one, "s" a set, "e" an object that is never
 * absent, "z" a scalar that is zero when it is absent, as each required one is.
 */
function applyOf(schema: Schema, isRequired: boolean): string {
  const isEmbedded = typeof schema.default === 'object' && SCALARS[referenceOf(schema) ?? ''] === undefined
  const mark = [
    schema['x-kubernetes-map-type'] === 'atomic' ? 'a' : '',
    schema['x-kubernetes-map-type'] === 'granular' && referenceOf(schema) !== undefined ? 'g' : '',
    schema['x-kubernetes-list-type'] === 'set' ? 's' : '',
    isEmbedded && referenceOf(schema) !== undefined ? 'e' : '',
    !isRequired && (schema.default === '' || schema.default === 0) ? 'z' : '',
  ].join('')
  return mark === '' ? '' : `%${mark}`
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "\\'")}'`
}

function write(file: string, variable: string, notation: string, types: ReadonlyMap<string, string>): void {
  const lines = [
    '// Generated by tools/generate-schema.ts from the OpenAPI schemas of Kubernetes v1.36.4. Do not edit.',
    '',
    `/** API types: their fields as ${notation}. */`,
    `export const ${variable}: Readonly<Record<string, string>> = {`,
    ...[...types].map(([name, fields]) => `  ${name.includes('.') ? quote(name) : name}: ${quote(fields)},`),
    '}',
    '',
  ]
  writeFileSync(join(import.meta.dirname, '../src/model/schema/generated', file), lines.join('\n'))
}

const NOTATION = 'name, "!" if required, ":" type, "=" default, "#" keys of a list'
const withGroup = (name: string) => `io.k8s.api.${name}`
write('pod-schema.ts', 'podSchema', NOTATION, new Types(POD_ROOTS.map(withGroup), false).lines)
const apiTypes = new Types(
  [...API_ROOTS.map(withGroup), `${META}DeleteOptions`, `${EXTENSIONS}CustomResourceDefinition`],
  true,
).lines
write(
  'api-schema.ts',
  'apiSchema',
  `${NOTATION}, "~" merge key of patches, "%" how applies own it`,
  new Map([
    ...apiTypes,
    ['PriorityClass', PRIORITY_CLASS],
    ['ClusterTrustBundle', TRUST_BUNDLE],
    ['ClusterTrustBundleSpec', TRUST_BUNDLE_SPEC],
    ...Object.entries(OLD_AUTOSCALER_TYPES),
  ]),
)
