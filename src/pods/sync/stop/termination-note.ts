import { isRecord } from '../../../base/document/is-record.ts'

/** A preStop hook that was begun for an instance of a container. */
export interface HookNote {
  /** On the monotonic clock. */
  readonly startedAt: number
  /** It came to its end, well or not, or its time was up. */
  readonly ended: boolean
}

/** A part of a pod that is stopped while the pod goes on. */
export interface StopNote {
  /** The end of its grace, on the monotonic clock. */
  readonly endsAt: number
  /** Its postStart hook failed, which no later agent can find out. */
  readonly isFailedStart: boolean
}

/** How far the end of a pod is, or that of containers of a pod that goes on. Its times are of the monotonic clock, so they say nothing after the machine was started again. */
export interface TerminationNote {
  readonly bootId: string
  /** The end of the grace; undefined for a pod that goes on. */
  readonly endsAt: number | undefined
  /** By the id of the container. */
  readonly hooks: ReadonlyMap<string, HookNote>
  /** What is stopped of a pod that goes on, by its id. */
  readonly stops: ReadonlyMap<string, StopNote>
}

/** The note as text. */
export function formatTerminationNote({ bootId, endsAt, hooks, stops }: TerminationNote): string {
  const list = [...hooks].map(([id, hook]) => ({ id, ...hook }))
  const stopped = stops.size === 0 ? {} : { stops: [...stops].map(formatStop) }
  return `${JSON.stringify({ version: 1, bootId, endsAt, hooks: list, ...stopped })}\n`
}

function formatStop([id, { endsAt, isFailedStart }]: readonly [string, StopNote]): object {
  return { id, endsAt, ...(isFailedStart && { isFailedStart }) }
}

/** Reads a note; throws when the text is none. */
export function parseTerminationNote(text: string): TerminationNote {
  const value: unknown = JSON.parse(text)
  const { version, bootId, endsAt, hooks, stops = [] } = isRecord(value) ? value : {}
  const isTime = endsAt === undefined || typeof endsAt === 'number'
  if (version !== 1 || typeof bootId !== 'string' || !isTime || !Array.isArray(hooks) || !Array.isArray(stops)) {
    throw new Error('Cannot read a note about the end of a pod: expected version 1, bootId, endsAt and a list of hooks')
  }
  return { bootId, endsAt, hooks: new Map(hooks.map(parseHook)), stops: new Map(stops.map(parseStop)) }
}

function parseStop(value: unknown): [string, StopNote] {
  const { id, endsAt, isFailedStart } = isRecord(value) ? value : {}
  if (typeof id !== 'string' || typeof endsAt !== 'number') {
    throw new Error('Cannot read a note about the end of a pod: expected id and endsAt of each stop')
  }
  return [id, { endsAt, isFailedStart: isFailedStart === true }]
}

function parseHook(value: unknown): [string, HookNote] {
  const { id, startedAt, ended } = isRecord(value) ? value : {}
  if (typeof id !== 'string' || typeof startedAt !== 'number' || typeof ended !== 'boolean') {
    throw new Error('Cannot read a note about the end of a pod: expected id, startedAt and ended of each hook')
  }
  return [id, { startedAt, ended }]
}
