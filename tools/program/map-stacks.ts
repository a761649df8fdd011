import { readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { dirname, resolve } from 'node:path'

/** V8's frames describe themselves. */
type Frame = NodeJS.CallSite & { toString(): string }

/** Stacks of scripts in a folder name the lines of their sources, by the map beside each. A map is read with the first stack that needs it. */
export function mapStacks(scripts: string): void {
  const maps = new Map<string, SourceMap | undefined>()
  const toSource = (frame: Frame): string => {
    const text = frame.toString()
    const [file, line, column] = [frame.getFileName(), frame.getLineNumber(), frame.getColumnNumber()]
    if (file?.startsWith(scripts) !== true || line === null || column === null) return text
    if (!maps.has(file)) maps.set(file, readMap(`${file}.map`))
    const origin = maps.get(file)?.findOrigin(line, column)
    if (origin === undefined || !('fileName' in origin)) return text
    const source = resolve(dirname(file), origin.fileName)
    return text.replace(`${file}:${line}:${column}`, `${source}:${origin.lineNumber}:${origin.columnNumber}`)
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

function readMap(path: string): SourceMap | undefined {
  try {
    return new SourceMap(JSON.parse(readFileSync(path, 'utf8')))
  } catch {
    return undefined
  }
}
