import { access, constants, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** True when there is such a program: at its path, or for a bare name in one of the folders of PATH. */
export async function isProgram(name: string, path: string): Promise<boolean> {
  const candidates = name.startsWith('/') ? [name] : path.split(':').map((folder) => join(folder, name))
  for (const candidate of candidates) {
    if (await canBeRun(candidate)) return true
  }
  return false
}

async function canBeRun(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK)
    return (await stat(path)).isFile()
  } catch {
    return false
  }
}
