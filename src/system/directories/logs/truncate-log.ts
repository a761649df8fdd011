import { copyFile, stat, truncate } from 'node:fs/promises'

/**
 * Empties a log that has grown too large, keeping its content as "<path>.1". For logs that another process writes at their
 * end (O_APPEND): it goes on at the new end. What it writes just between the copy and the emptying is lost.
 */
export async function truncateLog(path: string, maxBytes: number): Promise<boolean> {
  const size = await stat(path).then(
    (found) => found.size,
    () => 0,
  )
  if (size <= maxBytes) return false
  await copyFile(path, `${path}.1`)
  await truncate(path)
  return true
}
