import type { SecretReference } from '../../../../model/generated/core-v1.ts'
import type { NamespacedName } from '../../../objects/object-api.ts'
import type { DesiredVolume } from '../../desired-volume.ts'
import type { Disk } from '../disk-protocol.ts'

/** One way to a disk is enough, two make it safe. */
const ENOUGH_PATHS = 2
const ROUNDS_FOR_ALL = 2
const MOST_ROUNDS = 5

export const ISCSI_PLUGIN = 'kubernetes.io/iscsi'

/** A disk of an iSCSI target, and how it is reached. */
export interface IscsiDisk extends Disk {
  /** With ports; the first one names the disk. */
  readonly portals: readonly string[]
  readonly iqn: string
  readonly lun: number
  readonly volumeName: string
  /** The interface that sessions go through; one of its own for a disk with an initiator name. */
  readonly iface: string
  /** The interface that `iface` copies its settings from. */
  readonly baseInterface: string
  readonly initiatorName: string
  readonly chap: {
    readonly discovery: boolean
    readonly session: boolean
    /** Undefined: there is no password, so the target will refuse. */
    readonly secret: NamespacedName | undefined
  }
}

const DEFAULT_PORT = 3260
const DEFAULT_INTERFACE = 'default'

/** What a volume says of its iSCSI disk. */
export function toIscsiDisk(desired: DesiredVolume): IscsiDisk {
  const { source, specName, pod } = desired
  const iscsi = source.kind === 'inline' ? source.volume.iscsi : source.volume.spec?.iscsi
  if (iscsi === undefined) throw new Error(`Cannot mount volume "${specName}": expected iscsi in its spec`)
  const { targetPortal, iqn, lun, initiatorName = '', iscsiInterface: baseInterface = DEFAULT_INTERFACE } = iscsi
  const portals = [...new Set([targetPortal, ...(iscsi.portals ?? [])].map(withPort))]
  const [first = ''] = portals
  const iface = initiatorName === '' ? baseInterface : `${first}:${specName}`
  // They become names of directories and arguments of a program.
  for (const part of [...portals, iqn, iface, baseInterface])
    if (!/^[^\s/-][^\s/]*$/.test(part))
      throw new Error(`Cannot mount volume "${specName}": "${part}" names nothing of iSCSI`)
  const secret: SecretReference | undefined = iscsi.secretRef
  return {
    name: `${targetPortal}:${iqn}:${lun}`,
    folder: `iface-${iface}/${first}-${iqn}-lun-${lun}`,
    fsType: iscsi.fsType === '' ? undefined : iscsi.fsType,
    portals,
    iqn,
    lun,
    volumeName: specName,
    iface,
    baseInterface,
    initiatorName,
    chap: {
      discovery: iscsi.chapAuthDiscovery === true,
      session: iscsi.chapAuthSession === true,
      secret: toKey(secret, pod.metadata.namespace),
    },
  }
}

function toKey(secret: SecretReference | undefined, podNamespace: string): NamespacedName | undefined {
  const { namespace, name } = secret ?? {}
  return name === undefined || name === '' ? undefined : { namespace: namespace || podNamespace, name }
}

function withPort(portal: string): string {
  return /^(\[.*\]|[^:]*)$/.test(portal) ? `${portal}:${DEFAULT_PORT}` : portal
}

/** What a folder says of its disk. */
export interface IscsiFolder {
  readonly iface: string
  readonly portal: string
  readonly iqn: string
  readonly lun: number
}

/** Undefined for a folder of another making. */
export function parseIscsiFolder(folder: string): IscsiFolder | undefined {
  const [, iface, portal, iqn, lun] = /^iface-([^/]+)\/([^/]+?)-((?:iqn|eui|naa)\.[^/]*)-lun-(\d+)$/.exec(folder) ?? []
  if (iface === undefined || portal === undefined || iqn === undefined || lun === undefined) return undefined
  return { iface, portal, iqn, lun: Number(lun) }
}

/** The name that udev gives a disk behind a portal; a pattern where the transport puts a place of the machine before it. */
export function iscsiLink(
  disk: Pick<IscsiDisk, 'iqn' | 'lun'>,
  { portal, transport }: { readonly portal: string; readonly transport: string },
): RegExp {
  const name = RegExp.escape(`ip-${portal.replaceAll(/[[\]]/g, '')}-iscsi-${disk.iqn}-lun-${disk.lun}`)
  return new RegExp(transport === 'tcp' ? `^${name}$` : `^pci-.*-${name}$`)
}

/** Whether to try the portals again that gave no disk: all of them twice, and until there are two, but not for ever. */
export function computeAttachRound(tried: {
  readonly portals: number
  readonly found: number
  readonly round: number
}): 'done' | 'again' | 'failed' {
  const { portals, found, round } = tried
  if (found === 0) return 'failed'
  if (found === portals || round >= MOST_ROUNDS) return 'done'
  return found >= ENOUGH_PATHS && round >= ROUNDS_FOR_ALL ? 'done' : 'again'
}
