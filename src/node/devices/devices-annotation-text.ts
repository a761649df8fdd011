import type { ContainerDevices } from './device.ts'
import { isRecord } from '../../base/document/is-record.ts'

/** The ids of a container's devices by resource, as text: from it they are known again when the record of them is lost. */
export function formatDevicesAnnotation(devices: ReadonlyMap<string, Pick<ContainerDevices, 'ids'>>): string {
  return JSON.stringify(Object.fromEntries([...devices].map(([resource, { ids }]) => [resource, ids])))
}

/** Parses such a text; an invalid one is empty. */
export function parseDevicesAnnotation(text: string): ReadonlyMap<string, readonly string[]> {
  try {
    const parsed: unknown = JSON.parse(text)
    if (!isRecord(parsed)) return new Map()
    return new Map(Object.entries(parsed).filter((entry): entry is [string, string[]] => isTextList(entry[1])))
  } catch {
    return new Map()
  }
}

function isTextList(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === 'string')
}
