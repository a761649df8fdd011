import { fnv1a32 } from '../../model/text/fnv1a32.ts'
import { goJson } from '../../model/text/go-json.ts'
import { isPodUid } from '../../model/pod/pod.ts'
import type { PodUid } from '../../model/pod/pod.ts'
import type { DevicesByNode } from './device.ts'
import { ContainerAllocateResponse } from './generated/device-plugin-v1beta1.ts'
import { isRecord } from '../../base/document/is-record.ts'

/** The file among the sockets of plugins; the Go kubelet's own, so that either agent knows what the other gave. */
export const DEVICE_CHECKPOINT = 'kubelet_internal_checkpoint'

/** The devices of one container of one resource. */
export interface CheckpointEntry {
  readonly uid: PodUid
  readonly container: string
  readonly resource: string
  readonly byNode: DevicesByNode
  readonly response: ContainerAllocateResponse
}

/** The content of the file. */
export interface DeviceCheckpoint {
  readonly entries: readonly CheckpointEntry[]
  /** The ids that plugins offer, by resource. */
  readonly registered: ReadonlyMap<string, readonly string[]>
}

type IdLists = Readonly<Record<string, readonly string[]>>

interface EntryFields {
  readonly PodUID: string
  readonly ContainerName: string
  readonly ResourceName: string
  readonly DeviceIDs: IdLists | null
  /** As base64. */
  readonly AllocResp: string | null
}

interface Fields {
  readonly PodDeviceEntries: readonly EntryFields[] | null
  readonly RegisteredDevices: Readonly<Record<string, readonly string[] | null>> | null
}

/** The text of the file, with the checksum that the Go kubelet demands. */
export function formatDeviceCheckpoint({ entries, registered }: DeviceCheckpoint): string {
  const rows = entries.map(({ uid, container, resource, byNode, response }): EntryFields => ({
    PodUID: uid,
    ContainerName: container,
    ResourceName: resource,
    DeviceIDs: Object.fromEntries([...byNode].map(([node, ids]) => [`${node}`, [...ids]])),
    AllocResp: Buffer.from(ContainerAllocateResponse.encode(response).finish()).toString('base64'),
  }))
  const data: Fields = {
    PodDeviceEntries: rows.length === 0 ? null : rows,
    RegisteredDevices: Object.fromEntries(sorted([...registered]).map(([name, ids]) => [name, [...ids].sort()])),
  }
  return goJson({ Data: data, Checksum: toChecksum(data) })
}

/** Reads the text of the file; fails when it is not whole. */
export function parseDeviceCheckpoint(text: string): DeviceCheckpoint {
  const { Data: data, Checksum: checksum } = parseFields(text)
  const expected = toChecksum(data)
  if (checksum !== expected)
    throw new Error(`Cannot use the record of devices: its checksum is ${checksum}, expected ${expected}`)
  return {
    entries: (data.PodDeviceEntries ?? []).map(toEntry),
    registered: new Map(Object.entries(data.RegisteredDevices ?? {}).map(([name, ids]) => [name, ids ?? []])),
  }
}

function toEntry({ PodUID, ContainerName, ResourceName, DeviceIDs, AllocResp }: EntryFields): CheckpointEntry {
  if (!isPodUid(PodUID))
    throw new Error(`Cannot use the record of devices: expected the UID of a pod instead of "${PodUID}"`)
  return {
    uid: PodUID,
    container: ContainerName,
    resource: ResourceName,
    byNode: new Map(Object.entries(DeviceIDs ?? {}).map(([node, ids]) => [Number(node), ids])),
    response: ContainerAllocateResponse.decode(Buffer.from(AllocResp ?? '', 'base64')),
  }
}

/** Computed from the text that Go prints for the fields. */
function toChecksum({ PodDeviceEntries, RegisteredDevices }: Fields): number {
  const entries = PodDeviceEntries === null ? '<nil>' : `[${PodDeviceEntries.map(printEntry).join(' ')}]`
  const registered =
    RegisteredDevices === null
      ? '<nil>'
      : `map[${sorted(Object.entries(RegisteredDevices))
          .map(([name, ids]) => `${name}:${printIds(ids)}`)
          .join(' ')}]`
  const fields = [
    `PodDeviceEntries:([]checkpoint.PodDevicesEntry)${entries}`,
    `RegisteredDevices:(map[string][]string)${registered}`,
  ]
  return fnv1a32(toBytesText(`(checkpoint.checkpointData){${fields.join(' ')}}`))
}

function printEntry({ PodUID, ContainerName, ResourceName, DeviceIDs, AllocResp }: EntryFields): string {
  const nodes = DeviceIDs === null ? undefined : Object.entries(DeviceIDs).sort(([a], [b]) => Number(a) - Number(b))
  const devices =
    nodes === undefined ? '<nil>' : `map[${nodes.map(([node, ids]) => `${node}:${printIds(ids)}`).join(' ')}]`
  const bytes = AllocResp === null ? '<nil>' : `[${[...Buffer.from(AllocResp, 'base64')].join(' ')}]`
  const fields = [
    `PodUID:(string)${PodUID}`,
    `ContainerName:(string)${ContainerName}`,
    `ResourceName:(string)${ResourceName}`,
    `DeviceIDs:(checkpoint.DevicesPerNUMA)${devices}`,
    `AllocResp:([]uint8)${bytes}`,
  ]
  return `{${fields.join(' ')}}`
}

function printIds(ids: readonly string[] | null): string {
  return ids === null ? '<nil>' : `[${ids.join(' ')}]`
}

/** The bytes of a text as characters of one byte each. */
function toBytesText(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1')
}

function parseFields(text: string): { readonly Data: Fields; readonly Checksum: number } {
  const parsed: unknown = JSON.parse(text)
  const { Data: data, Checksum: checksum } = isRecord(parsed) ? parsed : {}
  if (!isRecord(data) || typeof checksum !== 'number') throw malformed()
  const { PodDeviceEntries: entries = null, RegisteredDevices: registered = null } = data
  const hasEntries = entries === null || (Array.isArray(entries) && entries.every(isEntry))
  if (!hasEntries || (registered !== null && !isIdTable(registered))) throw malformed()
  return { Data: { PodDeviceEntries: entries, RegisteredDevices: registered } as Fields, Checksum: checksum }
}

function malformed(): Error {
  return new Error(
    'Cannot use the record of devices: expected Data with PodDeviceEntries and RegisteredDevices, and Checksum',
  )
}

function isEntry(value: unknown): boolean {
  if (!isRecord(value)) return false
  const { PodUID, ContainerName, ResourceName, DeviceIDs, AllocResp } = value
  const areTexts = [PodUID, ContainerName, ResourceName].every((text) => typeof text === 'string')
  return (
    areTexts && (DeviceIDs === null || isIdTable(DeviceIDs)) && (AllocResp === null || typeof AllocResp === 'string')
  )
}

function isIdTable(value: unknown): boolean {
  return isRecord(value) && Object.values(value).every((ids) => ids === null || isTextList(ids))
}

function isTextList(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === 'string')
}

function sorted<T>(entries: readonly (readonly [string, T])[]): readonly (readonly [string, T])[] {
  return entries.toSorted(([a], [b]) => (a < b ? -1 : 1))
}
