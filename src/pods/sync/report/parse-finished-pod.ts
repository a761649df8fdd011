import type { ContainerStatus, PodStatus } from '../../../model/generated/core-v1.ts'
import type { PodUid } from '../../../model/pod/pod.ts'
import { isRecord } from '../../../base/document/is-record.ts'
import { formatExactJson, parseExactJson } from '../../../base/document/exact-json.ts'

const VERSION = 1
const PHASES = ['Succeeded', 'Failed']
const LISTS = ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'] as const

/** The text of a note about a pod that has finished. */
export function formatFinishedPod(uid: PodUid, status: PodStatus): string {
  return `${formatExactJson({ version: VERSION, uid, status })}\n`
}

/** The status in a note of formatFinishedPod(); throws when the text is none about this pod. */
export function parseFinishedPod(text: string, uid: PodUid): PodStatus {
  const note: unknown = parseExactJson(text)
  if (!isRecord(note) || note['version'] !== VERSION)
    throw new Error(`Cannot use the note: expected version ${VERSION}`)
  if (note['uid'] !== uid) throw new Error(`Cannot use the note: expected one about "${uid}"`)
  const { status } = note
  if (!isFinishedStatus(status)) throw new Error('Cannot use the note: expected the status of a finished pod')
  return status
}

/** Checked as far as the agent relies on it: the rest is shown to people only. */
function isFinishedStatus(value: unknown): value is PodStatus {
  if (!isRecord(value) || !PHASES.some((phase) => phase === value['phase'])) return false
  const { conditions } = value
  const named = (list: unknown, key: string) =>
    list === undefined || (Array.isArray(list) && list.every((item) => isRecord(item) && typeof item[key] === 'string'))
  return named(conditions, 'type') && LISTS.every((list) => named(value[list], 'name' satisfies keyof ContainerStatus))
}
