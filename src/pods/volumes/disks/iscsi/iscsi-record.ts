import type { IscsiDisk } from './iscsi-disk.ts'
import { isRecord } from '../../../../base/document/is-record.ts'

/** What is left to be undone of a disk, as far as its folder does not say it. */
export interface IscsiRecord {
  readonly portals: readonly string[]
  readonly iface: string
  readonly initiatorName: string
  readonly volumeName: string
}

/** The Go kubelet's own, so that either finds what the other has attached. */
export function formatIscsiRecord(disk: IscsiDisk): string {
  return `${JSON.stringify({
    VolName: disk.volumeName,
    Portals: disk.portals,
    Iqn: disk.iqn,
    Lun: String(disk.lun),
    InitIface: disk.baseInterface,
    Iface: disk.iface,
    InitiatorName: disk.initiatorName,
    MetricsProvider: null,
  })}\n`
}

/** Undefined for what does not say how to leave a target. */
export function parseIscsiRecord(text: string): IscsiRecord | undefined {
  const record = parseFields(text)
  const [portals, iface] = [record.get('Portals'), record.get('Iface')]
  if (!Array.isArray(portals) || typeof iface !== 'string' || iface === '') return undefined
  const names = portals.filter((portal): portal is string => typeof portal === 'string' && portal !== '')
  if (names.length === 0) return undefined
  const textOf = (name: string) => {
    const value = record.get(name)
    return typeof value === 'string' ? value : ''
  }
  return {
    portals: [...new Set(names)],
    iface,
    initiatorName: textOf('InitiatorName'),
    volumeName: textOf('VolName'),
  }
}

function parseFields(text: string): ReadonlyMap<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? new Map(Object.entries(value)) : new Map()
  } catch {
    return new Map()
  }
}
