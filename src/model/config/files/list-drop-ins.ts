import { ConfigError } from '../config-error.ts'
import type { ConfigFiles } from './config-files.ts'
import { errorMessage } from '../../../base/telemetry/error-text.ts'

const ENDING = '.conf'
// A loop of bind mounts would otherwise never end.
const DEEPEST = 64

async function walk(folder: string, files: ConfigFiles, depth: number): Promise<readonly string[]> {
  if (depth > DEEPEST) throw new Error(`expected at most ${DEEPEST} levels of folders`)
  const entries = [...(await files.listDirectory(folder))].sort((a, b) =>
    Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)),
  )
  const found: string[] = []
  for (const { name, kind } of entries) {
    const path = `${folder.replace(/\/+$/, '')}/${name}`
    // A link to a folder is not walked; with the ending it is read as a file and refused.
    if (kind === 'directory') found.push(...(await walk(path, files, depth + 1)))
    else if (name.endsWith(ENDING)) found.push(path)
  }
  return found
}

/** The drop-ins below a folder in the order in which they apply: by name, byte by byte, folders at their place. */
export async function listDropIns(folder: string, files: ConfigFiles): Promise<readonly string[]> {
  try {
    const kind = await files.entryKind(folder)
    if (kind === 'directory') return await walk(folder, files, 0)
    return kind !== 'symlink' && folder.endsWith(ENDING) ? [folder] : []
  } catch (error) {
    const rule = errorMessage(error)
    throw new ConfigError([{ path: '--config-dir', value: folder, rule }], { cause: error })
  }
}
