import assert from 'node:assert/strict'
import { mkdir, mkdtemp, open, realpath, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { systemClock } from '../../src/base/async/clock.ts'
import { createGuardedFiles } from '../../src/system/guarded/create-guarded-files.ts'
import { isProgram } from '../../src/system/files/is-program.ts'
import { createProjectQuotas } from '../../src/system/mounts/project-quotas.ts'
import { createRecordFolder } from '../../src/system/files/state/create-record-folder.ts'
import { runProcess, runProcessOrThrow } from '../../src/system/processes/run-process.ts'
import { VolumeProjects } from '../../src/pods/volumes/usage/volume-projects.ts'
import { silentLogger } from '../../src/base/telemetry/silent-logger.ts'
import { inMountNamespace } from './in-mount-namespace.ts'

const MEBIBYTE = 1024 * 1024
const DISK_MEBIBYTES = 320

inMountNamespace(import.meta.filename, () => {
  const { signal } = new AbortController()
  const run = (...argv: readonly string[]) => runProcessOrThrow(systemClock, { argv, deadlineMs: 20_000 }, signal)

  /** A disk whose file system counts for projects; undefined where there is none, and then the test is skipped. */
  async function mountDisk(
    t: TestContext,
    fileSystem: string,
    options: readonly string[],
  ): Promise<string | undefined> {
    const skip = (why: string) => {
      t.skip(`project quotas on ${fileSystem} cannot be tried here: ${why}`)
      return undefined
    }
    for (const program of [`mkfs.${fileSystem}`, 'xfs_quota', 'chattr'])
      if (!(await isProgram(program, process.env['PATH'] ?? ''))) return skip(`there is no program ${program}`)
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'deckhand-quota-')))
    const image = join(folder, 'disk.img')
    const point = join(folder, 'disk with a blank')
    let isMounted = false
    t.after(async () => {
      if (isMounted) await run('umount', point)
      await rm(folder, { recursive: true })
    })
    await mkdir(point)
    {
      await using file = await open(image, 'w')
      await file.truncate(DISK_MEBIBYTES * MEBIBYTE)
    }
    await run(`mkfs.${fileSystem}`, '-q', ...options, image)
    const argv = ['mount', '-o', 'loop,prjquota', image, point]
    const { exitCode, stderr } = await runProcess(systemClock, { argv, deadlineMs: 20_000 }, signal)
    if (exitCode !== 0) return skip(`the kernel does not mount with prjquota: ${stderr.trim().split('\n')[0]}`)
    isMounted = true
    return point
  }

  describe('project quotas on a real kernel', () => {
    for (const [fileSystem, options] of [
      ['ext4', ['-O', 'quota,project', '-E', 'quotatype=prjquota']],
      ['xfs', []],
    ] as const)
      test(`${fileSystem} counts what a volume takes as a walk does, from restart to removal`, async (t) => {
        const disk = await mountDisk(t, fileSystem, options)
        if (disk === undefined) return
        using guarded = createGuardedFiles({ clock: systemClock, log: silentLogger, findLauncher: async () => [] })
        const quotas = createProjectQuotas({ clock: systemClock, mountsFile: join(disk, 'mounts') })
        const load = () =>
          VolumeProjects.load({
            quotas,
            records: createRecordFolder(join(disk, 'projects')),
            isDirectory: (path) =>
              stat(path).then(
                (found) => found.isDirectory(),
                () => false,
              ),
            clock: systemClock,
            log: { ...silentLogger, warn: (message, fields) => assert.fail(`${message} ${String(fields?.['error'])}`) },
          })
        const volumes = ['first', 'second'].map((name) => join(disk, name))
        const [first = '', second = ''] = volumes
        const projects = await load()
        for (const volume of volumes) {
          await mkdir(volume)
          await projects.assign(volume, signal)
        }
        await mkdir(join(first, 'deep'))
        await writeFile(join(first, 'deep', 'file'), Buffer.alloc(3 * MEBIBYTE, 1))
        await writeFile(join(second, 'file'), Buffer.alloc(MEBIBYTE, 1))
        // What is only in memory has no blocks yet.
        await run('sync', '-f', disk)
        const restarted = await load()
        for (const volume of volumes)
          assert.deepEqual(await restarted.usageOf(volume, signal), await guarded.measureTree(volume, signal))
        assert.equal((await restarted.usageOf(first, signal))?.inodes, 3)

        await guarded.removeTree(first, signal)
        await restarted.release(first)
        assert.equal((await quotas.report(disk, signal)).get(1_048_577)?.bytes ?? 0, 0)
        assert.deepEqual([restarted.has(first), (await load()).has(second)], [false, true])
      })
  })
})
