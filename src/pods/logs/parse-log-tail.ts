import { Buffer } from 'node:buffer'
import { parseDockerEntry } from './parse-docker-entry.ts'

// In order: time, stream, tags (P: the line goes on in the next entry), text.
const ENTRY = /^\S+ (?:stdout|stderr) (\S+) (.*)$/s

/**
 * What a container printed last, from the end of its log in the format of CRI or of Docker: of at most so many entries the last bytes. The first
 * entry may lack its beginning; then what is there of it counts as text.
 */
export function parseLogTail(tail: Uint8Array, limits: { readonly entries: number; readonly bytes: number }): string {
  const entries = Buffer.from(tail).toString('utf8').split('\n')
  if (entries.at(-1) === '') entries.pop()
  const text = entries.slice(-limits.entries).map(toText).join('')
  return lastBytes(Buffer.from(text), limits.bytes).toString('utf8')
}

function toText(entry: string): string {
  if (entry.startsWith('{')) return parseDockerEntry(entry)?.log ?? `${entry}\n`
  const [, tags = 'F', text = entry] = ENTRY.exec(entry) ?? []
  return tags.split(':').includes('P') ? text : `${text}\n`
}

/** Begins with a whole character. */
function lastBytes(bytes: Buffer, count: number): Buffer {
  let start = Math.max(0, bytes.length - count)
  while (start > 0 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1
  return bytes.subarray(start)
}
