import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import type { Lab } from '../lab/start-lab.ts'

/** What mount is asked to do for NFS in a lab, in the order of the calls, as "<source> <target> <further arguments>". */
export interface NfsStandIn {
  calls(): Promise<readonly string[]>
}

/**
 * A helper for mount(8) in place of the one that NFS needs, since neither it nor NFS in the kernel can be expected of a machine that runs tests:
 * whatever the server and path, it shows a folder. So all that we do ourselves is real, up to the arguments of mount.nfs.
 */
export async function standInForNfs(lab: Lab, exported: string): Promise<NfsStandIn> {
  const programs = `${lab.folder}/mount-helpers`
  const log = `${lab.folder}/nfs.log`
  await mkdir(programs)
  await writeFile(
    `${programs}/mount.nfs`,
    `#!/bin/sh\necho "$@" >> ${log}\nexec mount --no-canonicalize --bind ${exported} "$2"\n`,
  )
  await chmod(`${programs}/mount.nfs`, 0o755)
  await writeFile(log, '')
  // mount searches helpers in /sbin only; this one is seen in the lab alone.
  const layers = `lowerdir=${programs}:/usr/sbin`
  const { exitCode, stderr } = await lab.runInside(['mount', '-t', 'overlay', '-o', layers, 'helpers', '/usr/sbin'])
  if (exitCode !== 0) throw new Error(`Cannot put a helper into /sbin of the lab: ${stderr}`)
  return { calls: async () => (await readFile(log, 'utf8')).trimEnd().split('\n') }
}
