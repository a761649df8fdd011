import type { DesiredVolume } from '../../desired-volume.ts'
import type { Disk } from '../disk-protocol.ts'

export const FC_PLUGIN = 'kubernetes.io/fc'

/** A disk of Fibre Channel: behind ports of a target, or by names of its own. */
export type FcDisk = Disk & FcNames

export type FcNames =
  | { readonly kind: 'ports'; readonly wwns: readonly string[]; readonly lun: number }
  | { readonly kind: 'names'; readonly wwids: readonly string[] }

/** What a volume says of its disk. */
export function toFcDisk({ source, specName }: DesiredVolume): FcDisk {
  const fc = source.kind === 'inline' ? source.volume.fc : source.volume.spec?.fc
  const names = fc && toNames(fc)
  if (fc === undefined || names === undefined)
    throw new Error(`Cannot mount volume "${specName}": expected targetWWNs with lun, or wwids, in fc of its spec`)
  // They become names of directories.
  for (const part of names.kind === 'ports' ? names.wwns : names.wwids)
    if (!/^[^\s/.][^\s/]*$/.test(part))
      throw new Error(`Cannot mount volume "${specName}": "${part}" names nothing of Fibre Channel`)
  const fsType = fc.fsType === '' ? undefined : fc.fsType
  return { ...names, fsType, name: formatName(names), folder: formatFolder(names) }
}

function toNames(fc: {
  readonly targetWWNs?: readonly string[] | undefined
  readonly lun?: number | undefined
  readonly wwids?: readonly string[] | undefined
}): FcNames | undefined {
  const { targetWWNs: wwns = [], lun, wwids = [] } = fc
  if (wwns.length > 0 && lun !== undefined) return { kind: 'ports', wwns, lun }
  return wwids.length > 0 ? { kind: 'names', wwids: wwids.map((wwid) => wwid.replaceAll(' ', '_')) } : undefined
}

function formatName(names: FcNames): string {
  return names.kind === 'ports' ? `[${names.wwns.join(' ')}]:${names.lun}` : `[${names.wwids.join(' ')}]`
}

function formatFolder(names: FcNames): string {
  return names.kind === 'ports' ? `${names.wwns.join('-')}-lun-${names.lun}` : names.wwids.join('-')
}

/** What the folder of a disk says. */
export function parseFcFolder(folder: string): FcNames {
  const [, ports, lun] = /^(.+)-lun-(\d+)$/.exec(folder) ?? []
  if (ports !== undefined && lun !== undefined) return { kind: 'ports', wwns: ports.split('-'), lun: Number(lun) }
  return { kind: 'names', wwids: folder.split('-') }
}

export function fcNameOf(folder: string): string {
  return formatName(parseFcFolder(folder))
}

/** The names that udev gives such a disk: one for each path, in one of its folders. */
export function fcLinks(names: FcNames): { readonly folder: 'by-path' | 'by-id'; readonly links: readonly RegExp[] } {
  if (names.kind === 'names')
    return { folder: 'by-id', links: names.wwids.map((wwid) => new RegExp(`^${RegExp.escape(`scsi-${wwid}`)}$`)) }
  const links = names.wwns.map((wwn) => new RegExp(`^(?:pci-.*-)?${RegExp.escape(`fc-0x${wwn}-lun-${names.lun}`)}$`))
  return { folder: 'by-path', links }
}
