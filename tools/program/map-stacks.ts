import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { LineTable } from './line-table.ts'

/** V8's frames describe themselves. */
type Frame = NodeJS.CallSite & { toString(): string }

/** Stacks of scripts in a folder name the lines of their sources, by the table beside each. A table is read with the first stack that needs it. */
export function mapStacks(scripts: string): void {
  const tables = new Map<string, LineTable | undefined>()
  const toSource = (frame: Frame): string => {
    const text = frame.toString()
    const [file, line, column] = [frame.getFileName(), frame.getLineNumber(), frame.getColumnNumber()]
    if (file?.startsWith(scripts) !== true || line === null || column === null) return text
    if (!tables.has(file)) tables.set(file, readTable(`${file}.lines`))
    const place = tables.get(file)?.find(line, column)
    if (place === undefined) return text
    const source = resolve(dirname(file), place.source)
    return text.replace(`${file}:${line}:${column}`, `${source}:${place.line}:${place.column}`)
  }
  Error.prepareStackTrace = (error, frames) =>
    [describe(error), ...frames.map((frame) => `    at ${toSource(frame)}`)].join('\n')
}

function describe(error: unknown): string {
  try {
    return String(error)
  } catch {
    return 'Error'
  }
}

function readTable(path: string): LineTable | undefined {
  try {
    return new LineTable(readFileSync(path))
  } catch {
    return undefined
  }
}
