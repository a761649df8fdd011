import type { Readable } from 'node:stream'
import { isRecord } from '../../../base/document/is-record.ts'

const LONGEST_LINE = 4 * 1024 * 1024

/** The objects in an answer that Docker sends one after the other, as they come. */
export async function* readJsonLines(source: Readable): AsyncGenerator<Readonly<Record<string, unknown>>, void> {
  let rest = ''
  const decoder = new TextDecoder()
  for await (const chunk of source as AsyncIterable<Buffer>) {
    rest += decoder.decode(chunk, { stream: true })
    const lines = rest.split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > LONGEST_LINE) throw new Error(`Cannot read a line of Docker: longer than ${LONGEST_LINE} bytes`)
    for (const line of lines) yield* parse(line)
  }
  yield* parse(rest)
}

function* parse(line: string): Generator<Readonly<Record<string, unknown>>, void> {
  if (line.trim() === '') return
  const value: unknown = JSON.parse(line)
  if (isRecord(value)) yield value
}
