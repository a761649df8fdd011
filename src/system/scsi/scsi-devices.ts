import { readdir, readFile, realpath } from 'node:fs/promises'
import { isIPv6 } from 'node:net'
import { basename, join } from 'node:path'
import type { Clock } from '../../base/async/clock.ts'
import { unlessAbsent } from '../files/error-codes.ts'
import { ProcessError, runProcess } from '../processes/run-process.ts'

/** The SCSI disks of this machine, as the kernel shows them in /sys and udev in /dev/disk. */
export interface ScsiDevices {
  /** The SCSI hosts of sessions with an iSCSI target, by portal: "192.0.2.7:3260". */
  portalHosts(iqn: string): Promise<ReadonlyMap<string, number>>
  /** Disks of an iSCSI target, as in "sda": one for each path to it. */
  disksOfTarget(iqn: string, lun: number): Promise<readonly string[]>
  /** The path of the device that joins several paths to one disk, as in "/dev/dm-0"; undefined for a disk with one path. */
  multipathOf(device: string): Promise<string | undefined>
  /** Disks that such a device joins, as in "sda". */
  pathsOf(multipath: string): Promise<readonly string[]>
  /** The names that udev gives disks there. */
  links(folder: LinkFolder): Promise<readonly string[]>
  /** Where such a link leads, as in "/dev/sda"; undefined when there is none. */
  follow(folder: LinkFolder, link: string): Promise<string | undefined>
  /** Has one host look for one disk: others that the target has may be none of ours. */
  scanDisk(host: number, lun: number, signal: AbortSignal): Promise<void>
  /** Has all hosts look for new disks. */
  scanAll(signal: AbortSignal): Promise<void>
  /** Forgets a device that joins paths; fails while it is in use. */
  removeMultipath(multipath: string, signal: AbortSignal): Promise<void>
  /** Writes out what is in memory of a disk, then forgets it; one that is gone is no failure. */
  removeDisk(name: string, signal: AbortSignal): Promise<void>
}

type LinkFolder = 'by-path' | 'by-id'

export interface ScsiDevicesDeps {
  readonly clock: Clock
  readonly run?: typeof runProcess
  /** Before /sys and /dev; another one in tests. */
  readonly root?: string
}

// A target that does not answer holds up the process that writes to its files; the write is in a child process, which is left behind then.
const WRITE_MS = 30_000
const FLUSH_MS = 60_000

export function createScsiDevices({ clock, run = runProcess, root = '' }: ScsiDevicesDeps): ScsiDevices {
  const blocks = `${root}/sys/block`
  const hosts = `${root}/sys/class/scsi_host`

  async function succeed(argv: readonly string[], deadlineMs: number, signal: AbortSignal, stdin = ''): Promise<void> {
    const { exitCode, stderr, stdout } = await run(clock, { argv, deadlineMs, stdin }, signal)
    if (exitCode === 0) return
    const said = (stderr.trim() || stdout.trim()).slice(-1000)
    throw new ProcessError(argv, `exit code ${exitCode ?? 'none, killed by a signal'}, expected 0: ${said}`)
  }

  const write = async (path: string, text: string, signal: AbortSignal) =>
    await succeed(['dd', `of=${path}`, 'conv=nocreat,notrunc', 'status=none'], WRITE_MS, signal, text)

  return {
    async portalHosts(iqn) {
      const portals: (readonly [string, number])[] = []
      for (const { host, session } of await findSessions(root, iqn)) {
        for (const connection of (await namesIn(session)).filter((name) => name.startsWith('connection'))) {
          const folder = `${session}/${connection}/iscsi_connection/${connection}`
          for (const kind of ['', 'persistent_']) {
            const [address, port] = [
              await readWord(`${folder}/${kind}address`),
              await readWord(`${folder}/${kind}port`),
            ]
            if (address !== '' && port !== '')
              portals.push([`${isIPv6(address) ? `[${address}]` : address}:${port}`, host])
          }
        }
      }
      return new Map(portals)
    },

    async disksOfTarget(iqn, lun) {
      const found: string[] = []
      for (const { host, session } of await findSessions(root, iqn))
        found.push(...(await namesIn(`${session}/target${host}:0:0/${host}:0:0:${lun}/block`)))
      return found
    },

    async multipathOf(device) {
      if (basename(device).startsWith('dm-')) return device
      for (const name of (await namesIn(blocks)).filter((one) => one.startsWith('dm-'))) {
        if ((await namesIn(`${blocks}/${name}/slaves`)).includes(basename(device))) return `${root}/dev/${name}`
      }
      return undefined
    },

    pathsOf: async (multipath) => await namesIn(`${blocks}/${basename(multipath)}/slaves`),
    links: async (folder) => await namesIn(`${root}/dev/disk/${folder}`),
    follow: async (folder, link) => await unlessAbsent(realpath(`${root}/dev/disk/${folder}/${link}`), undefined),
    scanDisk: async (host, lun, signal) => await write(`${hosts}/host${host}/scan`, `0 0 ${lun}`, signal),

    async scanAll(signal) {
      await Promise.all((await namesIn(hosts)).map((host) => write(join(hosts, host, 'scan'), '- - -', signal)))
    },

    removeMultipath: async (multipath, signal) => await succeed(['multipath', '-f', multipath], FLUSH_MS, signal),

    async removeDisk(name, signal) {
      if (!(await namesIn(blocks)).includes(name)) return
      await succeed(['blockdev', '--flushbufs', `${root}/dev/${name}`], FLUSH_MS, signal).catch(() => {
        // What cannot be flushed is lost either way: nothing is mounted from it any more.
        signal.throwIfAborted()
      })
      await write(`${blocks}/${name}/device/delete`, '1', signal)
    },
  }
}

/** The sessions with a target: where the kernel shows them, and their SCSI host. */
async function findSessions(
  root: string,
  iqn: string,
): Promise<readonly { readonly host: number; readonly session: string }[]> {
  const hosts = `${root}/sys/class/iscsi_host`
  const found: { host: number; session: string }[] = []
  for (const name of await namesIn(hosts)) {
    const host = Number(/^host(\d+)$/.exec(name)?.[1])
    if (Number.isNaN(host)) continue
    const device = `${hosts}/${name}/device`
    for (const one of (await namesIn(device)).filter((entry) => entry.startsWith('session'))) {
      const session = `${device}/${one}`
      if ((await readWord(`${session}/iscsi_session/${one}/targetname`)) === iqn) found.push({ host, session })
    }
  }
  return found
}

async function namesIn(folder: string): Promise<readonly string[]> {
  const names: readonly string[] = await unlessAbsent(readdir(folder), [])
  return names.toSorted()
}

/** Empty for a file that went away: so did its session. */
async function readWord(path: string): Promise<string> {
  return await readFile(path, 'utf8').then(
    (text) => text.trim(),
    () => '',
  )
}
