import { isRecord } from '../../../base/document/is-record.ts'

/** A preStop hook that was begun for an instance of a container. */
export interface HookNote {
  /** On the monotonic clock. */
  readonly startedAt: number
  /** It came to its end, well or not, or its time was up. */
  readonly ended: boolean
}

/** How far the end of a pod is. Its times are of the monotonic clock, so they say nothing after the machine was started again. */
export interface TerminationNote {
  readonly bootId: string
  /** The end of the grace. */
  readonly endsAt: number
  /** By the id of the container. */
  readonly hooks: ReadonlyMap<string, HookNote>
}

/** The note as text. */
export function formatTerminationNote({ bootId, endsAt, hooks }: TerminationNote): string {
  const list = [...hooks].map(([id, hook]) => ({ id, ...hook }))
  return `${JSON.stringify({ version: 1, bootId, endsAt, hooks: list })}\n`
}

/** Reads a note; throws when the text is none. */
export function parseTerminationNote(text: string): TerminationNote {
  const value: unknown = JSON.parse(text)
  const { version, bootId, endsAt, hooks } = isRecord(value) ? value : {}
  if (version !== 1 || typeof bootId !== 'string' || typeof endsAt !== 'number' || !Array.isArray(hooks)) {
    throw new Error('Cannot read a note about the end of a pod: expected version 1, bootId, endsAt and a list of hooks')
  }
  return { bootId, endsAt, hooks: new Map(hooks.map(parseHook)) }
}

function parseHook(value: unknown): [string, HookNote] {
  const { id, startedAt, ended } = isRecord(value) ? value : {}
  if (typeof id !== 'string' || typeof startedAt !== 'number' || typeof ended !== 'boolean') {
    throw new Error('Cannot read a note about the end of a pod: expected id, startedAt and ended of each hook')
  }
  return [id, { startedAt, ended }]
}
