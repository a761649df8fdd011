import { parseExactJson } from '../../base/document/exact-json.ts'
import { GarbledAnswerError } from './garbled-answer-error.ts'
import type { WatchEvent } from './kube-client.ts'

const TYPES: readonly unknown[] = ['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR'] satisfies WatchEvent['type'][]

/** One line of a watch. Its text is not quoted when it makes no sense: it may hold a secret. */
export function parseWatchEvent(line: string): WatchEvent {
  let value: Partial<WatchEvent> | null
  try {
    value = parseExactJson(line) as typeof value
  } catch {
    throw new GarbledAnswerError(`Cannot read a watch: a line of ${line.length} characters is not JSON`)
  }
  const { type, object } = value ?? {}
  if (!TYPES.includes(type)) throw new GarbledAnswerError('Cannot read a watch: a line is of no known type')
  if (typeof object !== 'object' || object === null || Array.isArray(object)) {
    throw new GarbledAnswerError('Cannot read a watch: a line has no object')
  }
  return { type, object } as WatchEvent
}
