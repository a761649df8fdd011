import { access, constants } from 'node:fs/promises'
import { join } from 'node:path'

/** True when there is such a program: at its path, or for a bare name in one of the folders of PATH. */
export async function isProgram(name: string, path: string): Promise<boolean> {
  const candidates = name.startsWith('/') ? [name] : path.split(':').map((folder) => join(folder, name))
  for (const candidate of candidates) {
    const found = await access(candidate, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (found) return true
  }
  return false
}
