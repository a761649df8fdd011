import type { ConfigMapEnvSource, EnvFromSource, EnvVar, EnvVarSource } from '../../../model/generated/core-v1.ts'
import { isStaticPod } from '../../../model/pod/pod.ts'
import { computeFieldValue } from './compute-field-value.ts'
import type { PodInfo } from './compute-field-value.ts'
import { computeResourceValue } from './compute-resource-value.ts'
import type { ResourceInfo } from './compute-resource-value.ts'
import { computeServiceVariables } from './compute-service-variables.ts'
import { ContainerConfigError } from '../pod-config-error.ts'
import type { EnvironmentSources, Lookup } from './environment-sources.ts'
import { expandVariables } from './expand-variables.ts'

export interface EnvironmentVariable {
  readonly name: string
  readonly value: string
}

export interface EnvironmentInput extends PodInfo, ResourceInfo {
  readonly sources: EnvironmentSources
  /** Variables that others than the spec ask for, such as device plugins. */
  readonly addedVariables: readonly EnvironmentVariable[]
}

type Data = ReadonlyMap<string, string>

/** The environment of a container: what others add, then what the spec says in its order, then the services it did not name. */
export function computeEnvironment(input: EnvironmentInput): EnvironmentVariable[] {
  const services = serviceVariables(input)
  const computed = new Map<string, string>()
  for (const source of input.container.envFrom ?? []) {
    for (const [key, value] of wholeObject(source, input) ?? []) computed.set(`${source.prefix ?? ''}${key}`, value)
  }
  for (const variable of input.container.env ?? []) {
    const value = variableValue(variable, input, (name) => computed.get(name) ?? services.get(name))
    if (value !== undefined) computed.set(variable.name, value)
  }
  const rest = [...services].filter(([name]) => !computed.has(name))
  return [...input.addedVariables, ...[...computed, ...rest].map(([name, value]) => ({ name, value }))]
}

function serviceVariables({ pod, sources }: EnvironmentInput): Data {
  if (pod.spec.enableServiceLinks === undefined) {
    throw new ContainerConfigError('nil pod.spec.enableServiceLinks encountered, cannot construct envvars')
  }
  const services = sources.services()
  if (services.kind === 'found') return computeServiceVariables(pod, services.value)
  if (services.kind === 'missing' || isStaticPod(pod)) return new Map()
  throw new ContainerConfigError(
    `services have not yet been read at least once, cannot construct envvars: ${services.why}`,
  )
}

/** Undefined for a variable that is not set at all. */
function variableValue(
  { value = '', valueFrom }: EnvVar,
  input: EnvironmentInput,
  lookup: (name: string) => string | undefined,
): string | undefined {
  if (value !== '') return expandVariables(value, lookup)
  return valueFrom === undefined ? '' : sourceValue(valueFrom, input)
}

function sourceValue(source: EnvVarSource, input: EnvironmentInput): string | undefined {
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef } = source
  if (fieldRef !== undefined) return computeFieldValue(fieldRef, input)
  if (resourceFieldRef !== undefined) return computeResourceValue(resourceFieldRef, input)
  if (configMapKeyRef !== undefined) return keyOf(CONFIG_MAP, configMapKeyRef, input)
  if (secretKeyRef !== undefined) return keyOf(SECRET, secretKeyRef, input)
  if (fileKeyRef === undefined) return ''
  const { volumeName, path, key, optional } = fileKeyRef
  const found = input.sources.file({ volumeName, path, key })
  return resolve(found, {
    optional,
    missing: `environment variable key "${key}" not found in file "${path}" of volume "${volumeName}"`,
    failed: `couldn't parse env file "${path}" of volume "${volumeName}"`,
  })
}

interface ObjectKind {
  readonly lookup: (sources: EnvironmentSources, name: string) => Lookup<Data>
  /** How the three messages about it spell its kind. */
  readonly words: { readonly missing: string; readonly failed: string; readonly key: string }
}

const CONFIG_MAP: ObjectKind = {
  lookup: (sources, name) => sources.configMap(name),
  words: { missing: 'configmap', failed: 'configMap', key: 'ConfigMap' },
}
const SECRET: ObjectKind = {
  lookup: (sources, name) => sources.secret(name),
  words: { missing: 'secret', failed: 'secret', key: 'Secret' },
}

function keyOf(
  kind: ObjectKind,
  selector: ConfigMapEnvSource & { readonly key: string },
  input: EnvironmentInput,
): string | undefined {
  const { name = '', key, optional } = selector
  const data = objectData(kind, selector, input)
  if (data === undefined) return undefined
  const value = data.get(key)
  if (value === undefined && optional !== true) {
    throw new ContainerConfigError(
      `couldn't find key ${key} in ${kind.words.key} ${input.pod.metadata.namespace}/${name}`,
    )
  }
  return value
}

function wholeObject(source: EnvFromSource, input: EnvironmentInput): Data | undefined {
  if (source.configMapRef !== undefined) return objectData(CONFIG_MAP, source.configMapRef, input)
  return source.secretRef === undefined ? undefined : objectData(SECRET, source.secretRef, input)
}

function objectData(
  kind: ObjectKind,
  { name = '', optional }: ConfigMapEnvSource,
  input: EnvironmentInput,
): Data | undefined {
  return resolve(kind.lookup(input.sources, name), {
    optional,
    missing: `${kind.words.missing} "${name}" not found`,
    failed: `couldn't get ${kind.words.failed} ${input.pod.metadata.namespace}/${name}`,
  })
}

interface Wanted {
  readonly optional: boolean | undefined
  readonly missing: string
  readonly failed: string
}

/** Only what is certainly missing can be done without; what cannot be read now may be there. */
function resolve<T>(found: Lookup<T>, { optional, missing, failed }: Wanted): T | undefined {
  switch (found.kind) {
    case 'found':
      return found.value
    case 'missing':
      if (optional === true) return undefined
      throw new ContainerConfigError(missing)
    case 'unavailable':
      throw new ContainerConfigError(`${failed}: ${found.why}`)
  }
}
