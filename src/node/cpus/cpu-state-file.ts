import { formatCpuSet, parseCpuSet } from '../../model/resources/cpu-set.ts'
import type { CpuSet } from '../../model/resources/cpu-set.ts'
import { fnv1a32 } from '../../model/text/fnv1a32.ts'
import { goJson } from '../../model/text/go-json.ts'
import { isPodUid } from '../../model/pod/pod.ts'
import type { PodUid } from '../../model/pod/pod.ts'
import type { CpuState } from './cpu-state.ts'
import { isRecord } from '../../base/document/is-record.ts'

/** The file in the root directory; the Go kubelet's own, so that either agent keeps what the other gave. */
export const CPU_STATE_FILE = 'cpu_manager_state'

/** The content of the file. */
export interface CpuStateRecord extends CpuState {
  readonly policyName: string
}

type Entries = Readonly<Record<string, Readonly<Record<string, string>>>>

/** The text of the file, with the checksum that the Go kubelet demands. */
export function formatCpuStateFile({ policyName, shared, assignments }: CpuStateRecord): string {
  const entries = Object.fromEntries(
    sorted([...assignments]).map(([uid, containers]) => [
      uid,
      Object.fromEntries(sorted([...containers]).map(([name, cpus]) => [name, formatCpuSet(cpus)])),
    ]),
  )
  const defaultCpuSet = formatCpuSet(shared)
  const checksum = toChecksum({ policyName, defaultCpuSet, entries })
  const isEmpty = Object.keys(entries).length === 0
  return goJson({ policyName, defaultCpuSet, ...(isEmpty ? {} : { entries }), checksum })
}

/** Parses the text of the file; fails when it is not complete. A checksum of 0 means none: the oldest kubelets wrote it so. */
export function parseCpuStateFile(text: string): CpuStateRecord {
  const { policyName, defaultCpuSet, entries = {}, checksum } = parseFields(text)
  const expected = toChecksum({ policyName, defaultCpuSet, entries })
  if (checksum !== 0 && checksum !== expected)
    throw new Error(`Cannot use the CPU state: its checksum is ${checksum}, expected ${expected}`)
  const assignments = new Map<PodUid, ReadonlyMap<string, CpuSet>>()
  for (const [uid, containers] of Object.entries(entries)) {
    if (!isPodUid(uid)) throw new Error(`Cannot use the CPU state: expected the UID of a pod instead of "${uid}"`)
    assignments.set(uid, new Map(Object.entries(containers).map(([name, cpus]) => [name, new Set(parseCpuSet(cpus))])))
  }
  return { policyName, shared: new Set(parseCpuSet(defaultCpuSet)), assignments }
}

interface Fields {
  readonly policyName: string
  readonly defaultCpuSet: string
  readonly entries?: Entries | undefined
  readonly checksum: number
}

function parseFields(text: string): Fields {
  const fields: unknown = JSON.parse(text)
  if (!isRecord(fields)) throw new Error('Cannot use the CPU state: expected an object')
  const { policyName, defaultCpuSet, entries, checksum } = fields
  const isTable = entries === undefined || (isRecord(entries) && Object.values(entries).every(isTextRecord))
  if (typeof policyName !== 'string' || typeof defaultCpuSet !== 'string' || typeof checksum !== 'number' || !isTable)
    throw new Error('Cannot use the CPU state: expected policyName, defaultCpuSet, entries and checksum')
  return { policyName, defaultCpuSet, entries: entries as Entries | undefined, checksum }
}

/** Computed from the text that Go prints for the fields, in the order of the file. */
function toChecksum({ policyName, defaultCpuSet, entries = {} }: Omit<Fields, 'checksum'>): number {
  const table = sorted(Object.entries(entries)).map(
    ([uid, containers]) =>
      `${uid}:map[${sorted(Object.entries(containers))
        .map(([name, cpus]) => `${name}:${cpus}`)
        .join(' ')}]`,
  )
  const fields = [
    `PolicyName:(string)${policyName}`,
    `DefaultCPUSet:(string)${defaultCpuSet}`,
    `Entries:(map[string]map[string]string)map[${table.join(' ')}]`,
    'Checksum:(checksum.Checksum)0',
  ]
  return fnv1a32(`(*state.CPUManagerCheckpoint){${fields.join(' ')}}`)
}

function sorted<T>(entries: readonly (readonly [string, T])[]): readonly (readonly [string, T])[] {
  return entries.toSorted(([a], [b]) => (a < b ? -1 : 1))
}

function isTextRecord(value: unknown): boolean {
  return isRecord(value) && Object.values(value).every((text) => typeof text === 'string')
}
