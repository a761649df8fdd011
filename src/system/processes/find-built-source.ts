import { readFileSync } from 'node:fs'
import { getAsset, isSea } from 'node:sea'

interface Mark {
  readonly line: number
  readonly source: string
}

// Where the files of the executable seem to lie (tools/package/executable-folder.ts).
const EXECUTABLE = '/proc/self/exe/'
const marksOf = new Map<string, readonly Mark[]>()

/** The source from which a line of a built file comes: the build writes its name above. Undefined for a file that was not built. */
export function findBuiltSource(path: string, line: number): string | undefined {
  if (!path.endsWith('.js')) return undefined
  const marks = marksOf.get(path) ?? readMarks(path)
  marksOf.set(path, marks)
  return marks.findLast((mark) => mark.line < line)?.source
}

function readMarks(path: string): readonly Mark[] {
  const text = isSea() ? getAsset(path.replace(EXECUTABLE, ''), 'latin1') : readFileSync(path, 'utf8')
  return text.split('\n').flatMap((text, index) => {
    const source = /^\/\/ (src\/\S+\.ts)$/.exec(text)?.[1]
    return source === undefined ? [] : [{ line: index + 1, source }]
  })
}
