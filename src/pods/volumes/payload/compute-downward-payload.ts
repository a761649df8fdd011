import { computeFieldValue } from '../../containers/environment/compute-field-value.ts'
import { computeResourceValue } from '../../containers/environment/compute-resource-value.ts'
import type { Payload, PayloadFile } from '../../../system/files/payload/payload.ts'
import type { ResourceAmounts } from '../../../model/resources/compute-pod-requests.ts'
import type {
  DownwardAPIVolumeFile,
  ObjectFieldSelector,
  ResourceFieldSelector,
} from '../../../model/generated/core-v1.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import { utf8Bytes } from '../../../model/text/utf8-bytes.ts'
import { goQuote } from './go-quote.ts'
import { joinErrors } from './join-errors.ts'

export interface DownwardInfo {
  readonly pod: Pod
  /** Stands in for limits that are not set. */
  readonly nodeAllocatable: ResourceAmounts
  readonly defaultMode: number
}

// What else a variable can have is not known yet, or may change, when volumes are made.
const SHOWN_FIELD = /^metadata\.(name|namespace|uid|(labels|annotations)\['.*'\])$/s

/** What a pod is shown about itself; all that cannot be shown is reported at once. */
export function computeDownwardPayload(
  items: readonly DownwardAPIVolumeFile[] | undefined,
  info: DownwardInfo,
): Payload {
  const payload = new Map<string, PayloadFile>()
  const errors: unknown[] = []
  for (const item of items ?? []) {
    try {
      payload.set(item.path, { content: utf8Bytes(textOf(item, info)), mode: item.mode ?? info.defaultMode })
    } catch (error) {
      errors.push(error)
    }
  }
  if (errors.length > 0) throw joinErrors(errors)
  return payload
}

function textOf({ fieldRef, resourceFieldRef }: DownwardAPIVolumeFile, info: DownwardInfo): string {
  if (fieldRef !== undefined) return fieldText(fieldRef, info.pod)
  return resourceFieldRef === undefined ? '' : resourceText(resourceFieldRef, info)
}

function fieldText(selector: ObjectFieldSelector, pod: Pod): string {
  const { fieldPath } = selector
  if (fieldPath === 'metadata.labels') return formatMap(pod.metadata.labels)
  if (fieldPath === 'metadata.annotations') return formatMap(pod.metadata.annotations)
  if (!SHOWN_FIELD.test(fieldPath)) throw new Error(`unsupported fieldPath: ${fieldPath}`)
  return computeFieldValue(selector, { pod, podIps: [], nodeIps: [] })
}

/** A volume belongs to no container, so one has to be named. */
function resourceText(selector: ResourceFieldSelector, { pod, nodeAllocatable }: DownwardInfo): string {
  const { containerName = '' } = selector
  const [container] = pod.spec.containers
  if (containerName === '' || container === undefined) throw new Error(`container ${containerName} not found`)
  return computeResourceValue(selector, { pod, container, nodeAllocatable })
}

function formatMap(map: Readonly<Record<string, string>> | undefined): string {
  const keys = Object.keys(map ?? {}).toSorted((a, b) => (a < b ? -1 : 1))
  return keys.map((key) => `${key}=${goQuote(map?.[key] ?? '')}`).join('\n')
}
