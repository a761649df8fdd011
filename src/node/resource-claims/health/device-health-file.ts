import { goJson } from '../../../model/text/go-json.ts'
import { isRecord } from '../../../base/document/is-record.ts'

/** The file in the root directory; the Go kubelet's own. It has no checksum. */
export const DRA_HEALTH_FILE = 'dra_health_state'

const HEALTHS = ['Healthy', 'Unhealthy', 'Unknown'] as const

export type Health = (typeof HEALTHS)[number]

/** What a driver last said of one of its devices. */
export interface DeviceHealthRecord {
  readonly driver: string
  readonly poolName: string
  readonly deviceName: string
  readonly health: Health
  /** Milliseconds since the epoch. */
  readonly updatedAt: number
  /** For how long it may be believed. */
  readonly timeoutMs: number
  readonly message: string
}

const NANOS_PER_MS = 1_000_000

/** The text of the file. */
export function formatDeviceHealth(records: readonly DeviceHealthRecord[]): string {
  const drivers = [...new Set(records.map(({ driver }) => driver))].sort()
  const entries = drivers.map((driver) => {
    const devices = records
      .filter((record) => record.driver === driver)
      .map((record) => [`${record.poolName}/${record.deviceName}`, toEntry(record)] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1))
    return [driver, { Devices: Object.fromEntries(devices) }] as const
  })
  return goJson(Object.fromEntries(entries))
}

/** Reads the text of the file; fails when it makes no sense. */
export function parseDeviceHealth(text: string): DeviceHealthRecord[] {
  const drivers = Object.entries(fieldsOf(JSON.parse(text)))
  return drivers.flatMap(([driver, state]) =>
    Object.values(fieldsOf(fieldsOf(state)['Devices'] ?? {})).map((value) => parseEntry(driver, fieldsOf(value))),
  )
}

function toEntry({ poolName, deviceName, health, updatedAt, timeoutMs, message }: DeviceHealthRecord) {
  return {
    PoolName: poolName,
    DeviceName: deviceName,
    Health: health,
    LastUpdated: new Date(updatedAt).toISOString(),
    HealthCheckTimeout: timeoutMs * NANOS_PER_MS,
    Message: message,
  }
}

function parseEntry(driver: string, fields: Fields): DeviceHealthRecord {
  const { PoolName, DeviceName, Health, LastUpdated, HealthCheckTimeout = 0, Message = '' } = fields
  const health = HEALTHS.find((known) => known === Health)
  const updatedAt = typeof LastUpdated === 'string' ? Date.parse(LastUpdated) : Number.NaN
  const isWhole =
    typeof PoolName === 'string' &&
    typeof DeviceName === 'string' &&
    typeof HealthCheckTimeout === 'number' &&
    typeof Message === 'string'
  if (!isWhole || health === undefined || Number.isNaN(updatedAt))
    throw new Error(`Cannot use the health of devices: one of driver "${driver}" makes no sense`)
  return {
    driver,
    poolName: PoolName,
    deviceName: DeviceName,
    health,
    updatedAt,
    timeoutMs: HealthCheckTimeout / NANOS_PER_MS,
    message: Message,
  }
}

type Fields = Readonly<Record<string, unknown>>

function fieldsOf(value: unknown): Fields {
  if (!isRecord(value)) throw new Error('Cannot use the health of devices: expected objects')
  return value
}
