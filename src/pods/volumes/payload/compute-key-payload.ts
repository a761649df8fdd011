import type { Payload, PayloadFile } from '../../../system/files/payload/payload.ts'
import type { KeyToPath } from '../../../model/generated/core-v1.ts'

/** Which keys of an object are shown, and how. */
export interface KeySelection {
  /** Undefined or empty: all keys, each under its own name. */
  readonly items: readonly KeyToPath[] | undefined
  readonly defaultMode: number
  /** Keys that the object does not have are left out. */
  readonly optional: boolean
  /** What users read about a key that is missing; the key follows. */
  readonly missingKey: 'configmap references non-existent config key' | 'references non-existent secret key'
}

/** The files that a ConfigMap or Secret becomes. */
export function computeKeyPayload(data: ReadonlyMap<string, Uint8Array>, selection: KeySelection): Payload {
  const { items, defaultMode, optional, missingKey } = selection
  if (items === undefined || items.length === 0) {
    return new Map([...data].map(([key, content]) => [key, { content, mode: defaultMode }]))
  }
  const payload = new Map<string, PayloadFile>()
  for (const { key, path, mode } of items) {
    const content = data.get(key)
    if (content !== undefined) payload.set(path, { content, mode: mode ?? defaultMode })
    else if (!optional) throw new Error(`${missingKey}: ${key}`)
  }
  return payload
}
