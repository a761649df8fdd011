import { containerDescriptions } from './container-descriptions.ts'
import { otherDescriptions } from './other-descriptions.ts'
import { podDescriptions } from './pod-descriptions.ts'
import { statusDescriptions } from './status-descriptions.ts'
import { volumeDescriptions } from './volume-descriptions.ts'

/** Texts by type and field; a type itself has the empty name, and a star stands for every type. */
export type Descriptions = Readonly<Record<string, Readonly<Record<string, string>>>>

const parts = [otherDescriptions, podDescriptions, containerDescriptions, volumeDescriptions, statusDescriptions]

// A container for debugging has the fields of any other, with some descriptions of its own.
const ALIKE: Readonly<Record<string, string>> = { EphemeralContainer: 'Container' }

/** What `kubectl explain` says of a field, or of a type when the field has no name. */
export function descriptionOf(typeName: string, field: string): string | undefined {
  for (const name of [typeName, ALIKE[typeName], '*']) {
    if (name === undefined || (field === '' && name !== typeName)) continue
    for (const part of parts) {
      const text = part[name]?.[field]
      if (text !== undefined) return text
    }
  }
  return undefined
}
