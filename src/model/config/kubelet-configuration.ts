import { apiServerFields } from './fields/api-server-fields.ts'
import { imageFields } from './fields/image-fields.ts'
import { loggingFields } from './fields/logging-fields.ts'
import { podSourceFields } from './fields/pod-source-fields.ts'
import { resourceFields } from './fields/resource-fields.ts'
import { runtimeFields } from './fields/runtime-fields.ts'
import { servingFields } from './fields/serving-fields.ts'
import { toPlain, type JsonObject } from './files/json-value.ts'
import { object, type TextMap } from './kinds/collection-kinds.ts'
import type { Fields } from './kinds/field.ts'
import type { Milliseconds } from './values/go-duration.ts'

export const API_VERSION = 'kubelet.config.k8s.io/v1beta1'
export const KIND = 'KubeletConfiguration'

/** The fields in groups, as --help shows them. */
export const CONFIGURATION_GROUPS: readonly (readonly [title: string, fields: Fields])[] = [
  ['Where pods come from', podSourceFields],
  ['Runtime', runtimeFields],
  ['API server and node', apiServerFields],
  ['Serving', servingFields],
  ['Resources and eviction', resourceFields],
  ['Images', imageFields],
  ['Logging', loggingFields],
]

/** All fields of KubeletConfiguration v1beta1. */
export const CONFIGURATION = object(
  {
    ...podSourceFields,
    ...runtimeFields,
    ...apiServerFields,
    ...servingFields,
    ...resourceFields,
    ...imageFields,
    ...loggingFields,
  },
  { about: 'configuration of the kubelet' },
)

/** The configuration as it was set: fields whose default depends on others may still be unset. Durations are milliseconds. */
export type GivenConfiguration = typeof CONFIGURATION.unset

/** The effective configuration: complete, valid and frozen. Durations are milliseconds; quantities are text. */
export type KubeletConfiguration = GivenConfiguration & {
  readonly authentication: { readonly webhook: { readonly enabled: boolean } }
  readonly authorization: { readonly mode: 'AlwaysAllow' | 'Webhook' }
  readonly crashLoopBackOff: { readonly maxContainerRestartPeriod: Milliseconds }
  readonly evictionHard: TextMap
  readonly maxParallelImagePulls: number
  readonly singleProcessOOMKill: boolean
  readonly userNamespaces: { readonly idsPerPod: number }
}

/** The configuration as a v1beta1 document; what Go's encoder leaves out is left out. */
export function encodeConfiguration(config: GivenConfiguration): JsonObject {
  return new Map([['apiVersion', API_VERSION], ['kind', KIND], ...(CONFIGURATION.encode(config) as JsonObject)])
}

/** The configuration as a plain v1beta1 object, with durations in Go's form: what /configz shows. */
export function toConfigDocument(config: KubeletConfiguration): unknown {
  return toPlain(encodeConfiguration(config))
}
