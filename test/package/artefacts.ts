import { globSync } from 'node:fs'
import { join } from 'node:path'

/** What "npm run package" wrote. */
const folder = join(import.meta.dirname, '../../out')

/** The path of the one file in out/ with a name like this. */
export function findArtefact(pattern: string): string {
  const [found, other] = globSync(pattern, { cwd: folder })
  if (found === undefined || other !== undefined)
    throw new Error(`Cannot find "${pattern}" in "${folder}", or there are several: run "npm run package"`)
  return join(folder, found)
}
