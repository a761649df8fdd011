import { basename } from 'node:path'
import type { DiskFiles } from '../../src/system/directories/disk-files.ts'
import type { IscsiAdmin } from '../../src/system/scsi/iscsi-admin.ts'
import type { ScsiDevices } from '../../src/system/scsi/scsi-devices.ts'
import { FakeDisks } from './fake-disks.ts'

export const IQN = 'iqn.2026-01.test:disks'
const PLUGINS = '/k/plugins'

/** A node with a storage network, in memory. It outlives agents; all that is done stands in the journal. */
export class FakeSan {
  readonly disks = new FakeDisks()
  readonly journal = this.disks.journal
  /** Portals of the one target that answer. */
  readonly portals = new Set(['192.0.2.1:3260'])
  /** Portals that never answer. */
  readonly hung = new Set<string>()
  /** By portal: the number of the SCSI host. */
  readonly sessions = new Map<string, number>()
  /** By link of udev, as in "by-path/ip-…": the device. */
  readonly links = new Map<string, string>()
  /** What hosts find when they look, by link. */
  readonly hidden = new Map<string, string>()
  /** By device that joins paths: the disks. */
  readonly joined = new Map<string, readonly string[]>()
  readonly secrets: string[] = []
  readonly records = new Map<string, string>()
  readonly folders = new Set<string>()
  /** Of pods: directories and links of volumes. */
  readonly places = new Map<string, string | undefined>()
  readonly failures = this.disks.failures
  interfaces = new Map([['default', new Map([['iface.transport_name', 'tcp']])]])

  readonly admin: IscsiAdmin = {
    interfaceSettings: async (iface) => {
      const settings = this.interfaces.get(iface)
      if (settings === undefined) throw new Error(`no interface ${iface}`)
      return settings
    },
    makeInterface: async (iface, settings) => {
      this.do(`iface ${iface} ${[...settings].map((pair) => pair.join('=')).join(',')}`)
      this.interfaces.set(iface, new Map(settings))
    },
    removeInterface: async (iface) => {
      this.do(`remove iface ${iface}`)
      this.interfaces.delete(iface)
    },
    discover: async ({ portal, iface }, chap, signal) => {
      if (chap !== undefined) this.secrets.push(`discover ${JSON.stringify(chap)}`)
      this.do(`discover ${portal} ${iface}`)
      await this.#answer(portal, signal)
    },
    login: async ({ portal, iqn, iface }, chap, signal) => {
      if (chap !== undefined) this.secrets.push(`login ${JSON.stringify(chap)}`)
      this.do(`login ${portal} ${iqn} ${iface}`)
      await this.#answer(portal, signal)
      this.sessions.set(portal, this.sessions.size)
    },
    logout: async ({ portal, iqn, iface }) => {
      this.do(`logout ${portal} ${iqn} ${iface ?? ''}`)
      this.sessions.delete(portal)
    },
  }

  readonly scsi: ScsiDevices = {
    portalHosts: async () => this.sessions,
    disksOfTarget: async (_, lun) =>
      [...this.links].flatMap(([link, device]) => (link.endsWith(`-lun-${lun}`) ? [basename(device)] : [])),
    multipathOf: async (device) =>
      this.joined.has(device) ? device : [...this.joined].find(([, paths]) => paths.includes(basename(device)))?.[0],
    pathsOf: async (multipath) => this.joined.get(multipath) ?? [],
    links: async (folder) =>
      [...this.links.keys()].flatMap((link) => (link.startsWith(`${folder}/`) ? [link.slice(folder.length + 1)] : [])),
    follow: async (folder, link) => this.links.get(`${folder}/${link}`),
    scanDisk: async (host, lun) => {
      this.do(`scan host${host} ${lun}`)
      this.#show()
    },
    scanAll: async () => {
      this.do('scan all')
      this.#show()
    },
    removeMultipath: async (multipath) => {
      this.do(`multipath -f ${multipath}`)
      this.joined.delete(multipath)
    },
    removeDisk: async (name) => {
      this.do(`delete ${name}`)
      for (const [link, device] of this.links) {
        if (basename(device) !== name) continue
        this.links.delete(link)
        this.hidden.set(link, device)
      }
    },
  }

  readonly diskFiles: DiskFiles = {
    staging: (plugin, use, folder) =>
      [PLUGINS, plugin, ...(use === 'device' ? ['volumeDevices'] : []), folder].join('/'),
    makeDirectory: async (path) => void this.folders.add(path),
    removeDirectory: async (path) => {
      if ([...this.records.keys()].some((record) => record.startsWith(`${path}/`))) throw new Error(`ENOTEMPTY ${path}`)
      this.folders.delete(path)
    },
    readRecord: async (path) => this.records.get(path),
    writeRecord: async (path, text) => void this.records.set(path, text),
    removeRecord: async (path) => void this.records.delete(path),
    readLink: async (path) => this.places.get(path),
    list: async (plugin) =>
      [...this.folders].flatMap((staging) => {
        const start = `${PLUGINS}/${plugin}/`
        if (!staging.startsWith(start)) return []
        const inside = staging.slice(start.length)
        const use = inside.startsWith('volumeDevices/') ? ('device' as const) : ('files' as const)
        return [{ use, folder: inside.replace(/^volumeDevices\//, ''), staging }]
      }),
  }

  /** What was done since this was last read. */
  take(): readonly string[] {
    return this.journal.splice(0)
  }

  do(line: string): void {
    this.journal.push(line)
    const failure = [...this.failures].find(([start]) => line.startsWith(start))?.[1]
    if (failure !== undefined) throw failure
  }

  #show(): void {
    for (const [link, device] of this.hidden) this.links.set(link, device)
    this.hidden.clear()
  }

  async #answer(portal: string, signal: AbortSignal): Promise<void> {
    if (this.hung.has(portal))
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
    if (!this.portals.has(portal)) throw new Error(`${portal} does not answer`)
  }
}
