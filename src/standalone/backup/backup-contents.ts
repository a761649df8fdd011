import { createHash } from 'node:crypto'
import { isRecord } from '../../base/document/is-record.ts'

/** The file of a backup that lists the others. */
export const CONTENTS_FILE = 'backup.json'

/** What goes into a backup, as paths below the state folder; folders with all that is in them. */
export const SAVED_PATHS = ['api/objects/objects.db', 'manifests', 'kubelet.conf.d', 'node.json', 'applied.json']

/** Without these the secrets in a backup cannot be read, and no client of the node is trusted. They go into a file of their own. */
export const KEY_PATHS = ['api/objects/secrets.key', 'api/pki']

/** The key that seals secrets. */
export const SECRETS_KEY = 'api/objects/secrets.key'

/** What a backup or its file of keys says of itself. */
export interface BackupContents {
  readonly kind: 'backup' | 'keys'
  readonly format: number
  readonly createdAt: string
  readonly nodeName: string
  /** Says which keys belong to a backup, and nothing about them. */
  readonly keyFingerprint: string
  /** The SHA-256 of each file. */
  readonly files: Readonly<Record<string, string>>
}

export const FORMAT = 1

/** The same for the same key, and says nothing about it. */
export function fingerprintOf(key: Uint8Array): string {
  return createHash('sha256').update('deckhand backup').update(key).digest('hex').slice(0, 32)
}

/** Reads the list; throws with a reason for what is none. */
export function parseContents(text: string, kind: BackupContents['kind']): BackupContents {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new Error(`its ${CONTENTS_FILE} is not JSON`, { cause })
  }
  if (!isRecord(value) || !isRecord(value['files']) || typeof value['keyFingerprint'] !== 'string')
    throw new Error(`its ${CONTENTS_FILE} is not what "deckhand backup" writes`)
  if (typeof value['format'] !== 'number' || value['format'] > FORMAT)
    throw new Error(`it has format ${String(value['format'])}, expected at most ${FORMAT}: a newer release made it`)
  if (value['kind'] !== kind) {
    throw new Error(kind === 'keys' ? 'it is a backup and has no keys' : 'it has the keys of a backup, and is none')
  }
  const allowed = kind === 'keys' ? KEY_PATHS : SAVED_PATHS
  const stranger = Object.keys(value['files']).find((path) => !isBelow(path, allowed))
  if (stranger !== undefined) throw new Error(`"${stranger}" does not belong into it`)
  return value as unknown as BackupContents
}

function isBelow(path: string, allowed: readonly string[]): boolean {
  const isPlain = path.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
  return isPlain && allowed.some((root) => path === root || path.startsWith(`${root}/`))
}
