import { formatCpuSet, parseCpuSet } from '../../model/resources/cpu-set.ts'
import type { CpuSet } from '../../model/resources/cpu-set.ts'
import { fnv1a32 } from '../../model/text/fnv1a32.ts'
import { goJson } from '../../model/text/go-json.ts'
import { isPodUid } from '../../model/pod/pod.ts'
import type { PodUid } from '../../model/pod/pod.ts'
import { WHOLE_POD } from '../placement/pod-level.ts'
import type { CpuState } from './cpu-state.ts'
import { isRecord } from '../../base/document/is-record.ts'

/** The file in the root directory; the Go kubelet's own, so that either agent keeps what the other gave. */
export const CPU_STATE_FILE = 'cpu_manager_state'

/** The content of the file. */
export interface CpuStateRecord extends CpuState {
  readonly policyName: string
}

type Entries = Readonly<Record<string, Readonly<Record<string, string>>>>
type PodEntries = Readonly<Record<string, { readonly cpuSet?: string }>>

/** The text of the file, with the checksum that the Go kubelet demands. Only with pod level does it have room for what pods have as a whole. */
export function formatCpuStateFile(record: CpuStateRecord & { readonly podLevel: boolean }): string {
  const { policyName, shared, assignments, podLevel } = record
  const entries = Object.fromEntries(
    sorted([...assignments]).map(([uid, containers]) => [
      uid,
      Object.fromEntries(
        sorted([...containers].filter(([name]) => name !== WHOLE_POD)).map(([name, cpus]) => [
          name,
          formatCpuSet(cpus),
        ]),
      ),
    ]),
  )
  const podEntries = Object.fromEntries(
    sorted([...assignments]).flatMap(([uid, containers]) => {
      const cpus = podLevel ? containers.get(WHOLE_POD) : undefined
      return cpus === undefined ? [] : [[uid, { cpuSet: formatCpuSet(cpus) }]]
    }),
  )
  const defaultCpuSet = formatCpuSet(shared)
  const checksum = toChecksum({ policyName, defaultCpuSet, entries, podEntries: podLevel ? podEntries : undefined })
  return goJson({
    policyName,
    defaultCpuSet,
    ...(Object.keys(entries).length === 0 ? {} : { entries }),
    ...(Object.keys(podEntries).length === 0 ? {} : { podEntries }),
    checksum,
  })
}

/** Parses the text of the file; fails when it is not complete. A checksum of 0 means none: the oldest kubelets wrote it so. */
export function parseCpuStateFile(text: string): CpuStateRecord {
  const { policyName, defaultCpuSet, entries = {}, podEntries = {}, checksum } = parseFields(text)
  const withPods = toChecksum({ policyName, defaultCpuSet, entries, podEntries })
  const expected = Object.keys(podEntries).length > 0 ? withPods : toChecksum({ policyName, defaultCpuSet, entries })
  if (checksum !== 0 && checksum !== expected && checksum !== withPods)
    throw new Error(`Cannot use the CPU state: its checksum is ${checksum}, expected ${expected}`)
  const assignments = new Map<PodUid, ReadonlyMap<string, CpuSet>>()
  for (const [uid, containers] of Object.entries(entries)) {
    if (!isPodUid(uid)) throw new Error(`Cannot use the CPU state: expected the UID of a pod instead of "${uid}"`)
    const whole = podEntries[uid]?.cpuSet
    const shares = [...(whole === undefined ? [] : [[WHOLE_POD, whole] as const]), ...Object.entries(containers)]
    assignments.set(uid, new Map(shares.map(([name, cpus]) => [name, new Set(parseCpuSet(cpus))])))
  }
  return { policyName, shared: new Set(parseCpuSet(defaultCpuSet)), assignments }
}

interface Fields {
  readonly policyName: string
  readonly defaultCpuSet: string
  readonly entries?: Entries | undefined
  /** What pods have as a whole. */
  readonly podEntries?: PodEntries | undefined
  readonly checksum: number
}

function parseFields(text: string): Fields {
  const fields: unknown = JSON.parse(text)
  if (!isRecord(fields)) throw new Error('Cannot use the CPU state: expected an object')
  const { policyName, defaultCpuSet, entries, podEntries, checksum } = fields
  const isTable = [entries, podEntries].every(
    (table) => table === undefined || (isRecord(table) && Object.values(table).every(isTextRecord)),
  )
  if (typeof policyName !== 'string' || typeof defaultCpuSet !== 'string' || typeof checksum !== 'number' || !isTable)
    throw new Error('Cannot use the CPU state: expected policyName, defaultCpuSet, entries and checksum')
  return {
    policyName,
    defaultCpuSet,
    entries: entries as Entries | undefined,
    podEntries: podEntries as PodEntries | undefined,
    checksum,
  }
}

/** Computed from the text that Go prints for the fields, in the order of the file. */
function toChecksum({ policyName, defaultCpuSet, entries = {}, podEntries }: Omit<Fields, 'checksum'>): number {
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
    ...(podEntries === undefined ? [] : [`PodEntries:(state.PodCPUAssignments)map[${showPods(podEntries)}]`]),
    'Checksum:(checksum.Checksum)0',
  ]
  return fnv1a32(`(*state.CPUManagerCheckpoint){${fields.join(' ')}}`)
}

function showPods(podEntries: PodEntries): string {
  return sorted(Object.entries(podEntries))
    .map(([uid, { cpuSet = '' }]) => {
      const cpus = parseCpuSet(cpuSet).map((cpu) => `${cpu}:{}`)
      return `${uid}:{CPUSet:(cpuset.CPUSet){elems:(map[int]struct {})map[${cpus.join(' ')}]}}`
    })
    .join(' ')
}

function sorted<T>(entries: readonly (readonly [string, T])[]): readonly (readonly [string, T])[] {
  return entries.toSorted(([a], [b]) => (a < b ? -1 : 1))
}

function isTextRecord(value: unknown): boolean {
  return isRecord(value) && Object.values(value).every((text) => typeof text === 'string')
}
