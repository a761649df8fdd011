import { readFileSync } from 'node:fs'
import { isExecutable, readExecutableFile } from '../../base/builtin/executable-files.ts'

interface Mark {
  readonly line: number
  readonly source: string
}

const marksOf = new Map<string, readonly Mark[]>()

/** The source from which a line of a built file comes: the build writes its name above. Undefined for a file that was not built. */
export function findBuiltSource(path: string, line: number): string | undefined {
  if (!path.endsWith('.js')) return undefined
  const marks = marksOf.get(path) ?? readMarks(path)
  marksOf.set(path, marks)
  return marks.findLast((mark) => mark.line < line)?.source
}

function readMarks(path: string): readonly Mark[] {
  const file = isExecutable ? readExecutableFile(path) : readFileSync(path)
  const lines = file.toString('latin1').split('\n')
  return lines.flatMap((text, index) => {
    const source = /^\/\/ (src\/\S+\.ts)$/.exec(text)?.[1]
    return source === undefined ? [] : [{ line: index + 1, source }]
  })
}
