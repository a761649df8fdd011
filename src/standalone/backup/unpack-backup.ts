import type { Clock } from '../../base/async/clock.ts'
import { hashFile, listTree } from '../../system/files/copy-tree.ts'
import { makeFolder } from '../../system/files/state/durable-file.ts'
import { readTextIfPresent } from '../../system/files/files-and-folders.ts'
import { runProcess } from '../../system/processes/run-process.ts'
import { CONTENTS_FILE, parseContents } from './backup-contents.ts'
import type { BackupContents } from './backup-contents.ts'

const DEADLINE_MS = 600_000

/** Unpacks a file of "deckhand backup" into a new folder and checks that all of it is there, unchanged, and nothing else. */
export async function unpackBackup(
  clock: Clock,
  { file, kind, folder }: { readonly file: string; readonly kind: BackupContents['kind']; readonly folder: string },
  signal: AbortSignal,
): Promise<BackupContents> {
  await makeFolder(folder, 0o700)
  const argv = ['tar', '--extract', '--file', file, '--no-same-owner', '--no-same-permissions', '--directory', folder]
  const { exitCode, stderr } = await runProcess(clock, { argv, deadlineMs: DEADLINE_MS }, signal)
  if (exitCode !== 0) throw new Error(`it cannot be unpacked: ${stderr.trim().split('\n')[0] ?? ''}`)
  const text = await readTextIfPresent(`${folder}/${CONTENTS_FILE}`)
  if (text === undefined) throw new Error(`it has no ${CONTENTS_FILE}; expected what "deckhand backup" wrote`)
  const contents = parseContents(text, kind)
  for (const [path, hash] of Object.entries(contents.files)) {
    const found = await hashFile(`${folder}/${path}`).catch(() => undefined)
    if (found === undefined) throw new Error(`"${path}" is missing in it`)
    if (found !== hash) throw new Error(`"${path}" in it is not as it was saved`)
  }
  const stranger = (await listTree(folder)).find(
    (path) => path !== CONTENTS_FILE && !Object.hasOwn(contents.files, path),
  )
  if (stranger !== undefined) throw new Error(`"${stranger}" does not belong into it`)
  return contents
}
