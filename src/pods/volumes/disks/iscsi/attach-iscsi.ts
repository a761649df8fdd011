import type { Clock } from '../../../../base/async/clock.ts'
import { errorMessage } from '../../../../base/telemetry/error-text.ts'
import type { ChapSecrets, IscsiAdmin } from '../../../../system/scsi/iscsi-admin.ts'
import type { ScsiDevices } from '../../../../system/scsi/scsi-devices.ts'
import { computeAttachRound, iscsiLink } from './iscsi-disk.ts'
import type { IscsiDisk } from './iscsi-disk.ts'

export interface AttachIscsiDeps {
  readonly admin: IscsiAdmin
  readonly scsi: ScsiDevices
  readonly clock: Clock
}

interface Attaching {
  readonly disk: IscsiDisk
  readonly secrets: ChapSecrets | undefined
  readonly transport: string
}

const APPEAR_MS = 30_000
const MULTIPATH_MS = 10_000
// Udev makes links whenever it comes to it.
const CHECK_MS = 250

/** Logs in to the target of a disk through each of its portals and returns the device, the one that joins all paths where there is one. */
export async function attachIscsi(
  deps: AttachIscsiDeps,
  { disk, secrets }: Pick<Attaching, 'disk' | 'secrets'>,
  signal: AbortSignal,
): Promise<string> {
  const { admin, scsi } = deps
  const settings = await admin.interfaceSettings(disk.baseInterface, signal)
  const transport = settings.get('iface.transport_name') ?? 'tcp'
  const sessions = await scsi.portalHosts(disk.iqn)
  // One that has sessions stays as it is.
  if (disk.initiatorName !== '' && !disk.portals.every((portal) => sessions.has(portal))) {
    const own = new Map([...settings].filter(([name]) => name !== 'iface.iscsi_ifacename'))
    await admin.makeInterface(disk.iface, own.set('iface.initiatorname', disk.initiatorName), signal)
  }
  const devices = await findAllPaths(deps, { disk, secrets, transport }, signal)
  // Without a second portal there is rarely anything to wait for.
  const joined = await findMultipath(deps, devices, disk.portals.length > 1 ? MULTIPATH_MS : 0, signal)
  const [device = ''] = devices
  return joined ?? device
}

async function findAllPaths(deps: AttachIscsiDeps, attaching: Attaching, signal: AbortSignal): Promise<string[]> {
  const { disk } = attaching
  const found = new Map<string, string>()
  let failure: unknown
  for (let round = 1; ; round += 1) {
    for (const portal of disk.portals.filter((one) => !found.has(one))) {
      try {
        found.set(portal, await findPath(deps, attaching, portal, signal))
      } catch (error) {
        signal.throwIfAborted()
        failure = error
      }
    }
    const next = computeAttachRound({ portals: disk.portals.length, found: found.size, round })
    if (next === 'done') return [...found.values()]
    if (next === 'failed')
      throw new Error(`failed to get any path for iscsi disk, last err seen:\n${errorMessage(failure)}`, {
        cause: failure,
      })
  }
}

async function findPath(
  deps: AttachIscsiDeps,
  { disk, secrets, transport }: Attaching,
  portal: string,
  signal: AbortSignal,
): Promise<string> {
  const { admin, scsi } = deps
  const { iqn, iface, lun, chap } = disk
  if (!(await scsi.portalHosts(iqn)).has(portal)) {
    const path = { portal, iqn, iface }
    await admin.discover(path, chap.discovery ? (secrets ?? {}) : undefined, signal)
    await admin.login(path, chap.session ? (secrets ?? {}) : undefined, signal)
  }
  const host = (await scsi.portalHosts(iqn)).get(portal)
  if (host === undefined) throw new Error(`Cannot find the SCSI host of portal ${portal} after logging in`)
  await scsi.scanDisk(host, lun, signal)
  return await waitForLink(deps, iscsiLink(disk, { portal, transport }), signal)
}

async function waitForLink({ scsi, clock }: AttachIscsiDeps, link: RegExp, signal: AbortSignal): Promise<string> {
  const end = clock.monotonic() + APPEAR_MS
  for (;;) {
    const name = (await scsi.links('by-path')).find((one) => link.test(one))
    const device = name === undefined ? undefined : await scsi.follow('by-path', name)
    if (device !== undefined) return device
    if (clock.monotonic() >= end)
      throw new Error(
        `Timed out waiting for device at path /dev/disk/by-path/${link.source.slice(1, -1)} after ${APPEAR_MS / 1000}s`,
      )
    await clock.sleep(CHECK_MS, signal)
  }
}

async function findMultipath(
  { scsi, clock }: AttachIscsiDeps,
  devices: readonly string[],
  waitMs: number,
  signal: AbortSignal,
): Promise<string | undefined> {
  const end = clock.monotonic() + waitMs
  for (;;) {
    for (const device of devices) {
      const joined = await scsi.multipathOf(device)
      if (joined !== undefined) return joined
    }
    if (clock.monotonic() >= end) return undefined
    await clock.sleep(CHECK_MS, signal)
  }
}
