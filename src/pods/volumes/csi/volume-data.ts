import { isRecord } from '../../../base/document/is-record.ts'

/** What vol_data.json says: enough to take a volume down when its pod and its persistent volume are not known any more. */
export interface VolumeData {
  readonly driverName: string
  readonly volumeHandle: string
  readonly specVolID?: string | undefined
  readonly nodeName?: string | undefined
  readonly attachmentID?: string | undefined
  /** What it is mounted with for SELinux. */
  readonly seLinuxMountContext?: string | undefined
  readonly volumeLifecycleMode?: 'Persistent' | 'Ephemeral' | undefined
}

// What Go's encoder escapes in text although JSON does not ask for it.
const ESCAPED = /[<>&\u2028\u2029]/g

/** Byte for byte what the Go kubelet writes: fields by name, one line. */
export function formatVolumeData(data: VolumeData): string {
  const fields = Object.entries(data)
    .filter(([, value]) => value !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
  const escape = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  return `${JSON.stringify(Object.fromEntries(fields)).replace(ESCAPED, escape)}\n`
}

/** Undefined for what does not say which volume of which driver it is. */
export function parseVolumeData(text: string): VolumeData | undefined {
  const fields = toFields(text)
  const [driverName, volumeHandle] = [fields.get('driverName'), fields.get('volumeHandle')]
  if (driverName === undefined || volumeHandle === undefined) return undefined
  const mode = fields.get('volumeLifecycleMode')
  return {
    driverName,
    volumeHandle,
    specVolID: fields.get('specVolID'),
    nodeName: fields.get('nodeName'),
    attachmentID: fields.get('attachmentID'),
    seLinuxMountContext: fields.get('seLinuxMountContext'),
    volumeLifecycleMode: mode === 'Ephemeral' || mode === 'Persistent' ? mode : undefined,
  }
}

function toFields(text: string): ReadonlyMap<string, string> {
  try {
    const value: unknown = JSON.parse(text)
    if (!isRecord(value)) return new Map()
    return new Map(
      Object.entries(value).filter(
        (field): field is [string, string] => typeof field[1] === 'string' && field[1] !== '',
      ),
    )
  } catch {
    return new Map()
  }
}
