import type { CadvisorSubject } from './cadvisor-subjects.ts'
import type { StatsFamily } from './stats-family.ts'
import type { DiskCounters } from '../sampling/parse-disk-stats.ts'

/** One value of a metric, with labels besides the usual ones. */
export interface CadvisorValue {
  readonly value: number | undefined
  readonly extra?: Readonly<Record<string, string>>
}

/** One metric: its name, and its values for a subject. */
export interface CadvisorRow {
  readonly name: string
  readonly help: string
  readonly type: StatsFamily['type']
  /** False: it is a setting, which holds whenever it is read. */
  readonly isTimed: boolean
  values(subject: CadvisorSubject, disks: ReadonlyMap<string, DiskCounters>): readonly CadvisorValue[]
}

type One = (subject: CadvisorSubject) => number | undefined

export function row(name: string, help: string, type: StatsFamily['type'], values: CadvisorRow['values']): CadvisorRow {
  return { name: `container_${name}`, help, type, isTimed: true, values }
}

export function counter(name: string, help: string, one: One): CadvisorRow {
  return row(name, help, 'counter', (subject) => [{ value: one(subject) }])
}

export function gauge(name: string, help: string, one: One): CadvisorRow {
  return row(name, help, 'gauge', (subject) => [{ value: one(subject) }])
}

export function setting(name: string, help: string, one: One): CadvisorRow {
  return { ...gauge(name, help, one), isTimed: false }
}
