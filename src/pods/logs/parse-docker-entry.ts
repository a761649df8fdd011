import { isRecord } from '../../base/document/is-record.ts'

/** An entry of a log that Docker writes. */
interface DockerEntry {
  /** Ends with the end of its line, unless the line goes on in the next entry. */
  readonly log: string
  readonly stream: 'stdout' | 'stderr'
  readonly time: string
}

/** Reads a line of JSON; undefined for what is no entry. */
export function parseDockerEntry(line: string): DockerEntry | undefined {
  let entry: unknown
  try {
    entry = JSON.parse(line)
  } catch {
    return undefined
  }
  if (!isRecord(entry)) return undefined
  const { log, stream, time } = entry
  if (typeof log !== 'string' || typeof time !== 'string' || (stream !== 'stdout' && stream !== 'stderr'))
    return undefined
  return { log, stream, time }
}
