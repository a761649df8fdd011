import type { ApiObject } from '../store/api-object.ts'

/** One column of `kubectl get`. */
export interface Column {
  readonly name: string
  readonly type: string
  readonly format: string
  readonly description: string
  /** 0: always shown; 1: only in wide output. */
  readonly priority: number
}

interface RowCondition {
  readonly type: string
  readonly status: string
  readonly reason: string
  readonly message: string
}

type Cell = string | number | boolean | null

/** How a kind is shown as rows. */
export interface TableColumns<T extends ApiObject = ApiObject> {
  readonly columns: readonly Column[]
  readonly cells: (object: T, now: number) => readonly Cell[]
  /** What else is true of a row, such as that its pod is terminal. */
  readonly conditions?: (object: T) => readonly RowCondition[]
}

/** "Name", "Age:string", "Restarts:integer", "IP:wide": columns in short. */
export function columnsOf(...definitions: readonly string[]): readonly Column[] {
  return definitions.map((definition) => {
    const [name = '', ...marks] = definition.split(':')
    const type = marks.includes('integer') ? 'integer' : marks.includes('boolean') ? 'boolean' : 'string'
    return {
      name,
      type,
      format: name === 'Name' ? 'name' : '',
      description: '',
      priority: marks.includes('wide') ? 1 : 0,
    }
  })
}

/** Kinds without columns of their own. */
export const nameAndAge: TableColumns = {
  columns: columnsOf('Name', 'Age'),
  cells: (object, now) => [object.metadata.name ?? '', ageOf(object, now)],
}

/** How long ago the object was made. */
export function ageOf(object: ApiObject, now: number): string {
  return timeSince(object.metadata.creationTimestamp, now)
}

/** How long ago something was, as kubectl writes it. */
export function timeSince(time: string | undefined, now: number): string {
  const at = Date.parse(time ?? '')
  return Number.isNaN(at) ? '<unknown>' : humanDuration(now - at)
}

/** "5m10s", "3h", "12d": one or two units, finer where it is short. */
export function humanDuration(ms: number): string {
  const seconds = Math.floor(ms / 1000)
  if (seconds < -1) return '<invalid>'
  if (seconds < 0) return '0s'
  if (seconds < 120) return `${seconds}s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 10) return withRest(minutes, 'm', seconds % 60, 's')
  if (minutes < 180) return `${minutes}m`
  const hours = Math.floor(minutes / 60)
  if (hours < 8) return withRest(hours, 'h', minutes % 60, 'm')
  if (hours < 48) return `${hours}h`
  const days = Math.floor(hours / 24)
  if (days < 8) return withRest(days, 'd', hours % 24, 'h')
  if (days < 730) return `${days}d`
  const years = Math.floor(days / 365)
  return years < 8 ? withRest(years, 'y', days % 365, 'd') : `${years}y`
}

function withRest(count: number, unit: string, rest: number, restUnit: string): string {
  return rest === 0 ? `${count}${unit}` : `${count}${unit}${rest}${restUnit}`
}

/** "a=1,b=2", or "<none>". */
export function formatMap(map: Readonly<Record<string, string>> | undefined): string {
  const pairs = Object.entries(map ?? {}).map(([key, value]) => `${key}=${value}`)
  return pairs.length === 0 ? '<none>' : pairs.sort().join(',')
}
