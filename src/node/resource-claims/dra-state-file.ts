import { crc32 } from 'node:zlib'
import { goJson } from '../../model/text/go-json.ts'
import { parsePodUid } from '../../model/pod/pod.ts'
import { claimKey } from './claim-record.ts'
import type { ClaimDevice, ClaimRecord } from './claim-record.ts'
import { isRecord } from '../../base/document/is-record.ts'

/** The file in the root directory; the Go kubelet's own, so that either agent ends what the other began. */
export const DRA_STATE_FILE = 'dra_manager_state'

const TYPE = { kind: 'DRACheckpoint', apiVersion: 'checkpoint.dra.kubelet.k8s.io/v1' } as const

/** The text of the file, with the checksum that the Go kubelet demands. */
export function formatDraState(records: Iterable<ClaimRecord>): string {
  const list = [...records].sort((a, b) => (claimKey(a) < claimKey(b) ? -1 : 1)).map(toEntry)
  const data = goJson({ ...TYPE, ClaimInfoStateList: list })
  return goJson({ Data: data, Checksum: crc32(data) })
}

/** Reads the text of the file; fails when it is not whole. */
export function parseDraState(text: string): ClaimRecord[] {
  const outer = recordOf(JSON.parse(text), 'the file')
  const data = textOf(outer, 'Data')
  const expected = crc32(data)
  if (outer['Checksum'] !== expected)
    throw new Error(
      `Cannot use the state of claims: its checksum is ${String(outer['Checksum'])}, expected ${expected}`,
    )
  const inner = recordOf(JSON.parse(data), 'Data')
  if (inner['apiVersion'] !== TYPE.apiVersion)
    throw new Error(`Cannot use the state of claims: expected version "${TYPE.apiVersion}"`)
  return listOf(inner, 'ClaimInfoStateList').map(parseEntry)
}

/** Go writes a list that was never made as null. */
function toEntry({ uid, name, namespace, podUids, drivers }: ClaimRecord) {
  return {
    ClaimUID: uid,
    ClaimName: name,
    Namespace: namespace,
    PodUIDs: Object.fromEntries([...podUids].sort().map((podUid) => [podUid, {}])),
    DriverState: Object.fromEntries(
      [...drivers]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([driver, devices]) => [driver, { Devices: orNull(devices.map(toDevice)) }]),
    ),
  }
}

function toDevice({ poolName, deviceName, shareId, requestNames, cdiDeviceIds }: ClaimDevice) {
  return {
    PoolName: poolName,
    DeviceName: deviceName,
    ShareID: shareId ?? null,
    RequestNames: orNull(requestNames),
    CDIDeviceIDs: orNull(cdiDeviceIds),
  }
}

function orNull<T>(list: readonly T[]): readonly T[] | null {
  return list.length === 0 ? null : list
}

function parseEntry(value: unknown): ClaimRecord {
  const entry = recordOf(value, 'a claim')
  const drivers = Object.entries(recordOf(entry['DriverState'] ?? {}, 'DriverState'))
  return {
    uid: textOf(entry, 'ClaimUID'),
    name: textOf(entry, 'ClaimName'),
    namespace: textOf(entry, 'Namespace'),
    podUids: new Set(Object.keys(recordOf(entry['PodUIDs'] ?? {}, 'PodUIDs')).map(parsePodUid)),
    drivers: new Map(
      drivers.map(([driver, state]) => [driver, listOf(recordOf(state, 'a driver'), 'Devices').map(parseDevice)]),
    ),
    isPrepared: false,
  }
}

function parseDevice(value: unknown): ClaimDevice {
  const device = recordOf(value, 'a device')
  return {
    poolName: textOf(device, 'PoolName'),
    deviceName: textOf(device, 'DeviceName'),
    shareId: (device['ShareID'] ?? null) === null ? undefined : textOf(device, 'ShareID'),
    requestNames: textsOf(device, 'RequestNames'),
    cdiDeviceIds: textsOf(device, 'CDIDeviceIDs'),
  }
}

type Fields = Readonly<Record<string, unknown>>

function recordOf(value: unknown, what: string): Fields {
  if (!isRecord(value)) throw unexpected(`${what} to be an object`)
  return value
}

function textOf(fields: Fields, name: string): string {
  const value = fields[name]
  if (typeof value !== 'string') throw unexpected(`text in ${name}`)
  return value
}

function listOf(fields: Fields, name: string): readonly unknown[] {
  const value = fields[name] ?? []
  if (!Array.isArray(value)) throw unexpected(`a list in ${name}`)
  return value
}

function textsOf(fields: Fields, name: string): readonly string[] {
  const list = listOf(fields, name)
  if (!list.every((text) => typeof text === 'string')) throw unexpected(`texts in ${name}`)
  return list
}

function unexpected(what: string): Error {
  return new Error(`Cannot use the state of claims: expected ${what}`)
}
