import { CONFIGURATION_GROUPS } from '../kubelet-configuration.ts'
import type { Field, FieldFlag, Fields } from '../kinds/field.ts'
import { FLAG_GROUPS } from './kubelet-flags.ts'
import { bool, duration, int64, text } from '../kinds/scalar-kinds.ts'

const about = 'without effect'

/** Flags of the metrics collector that the Go kubelet carries along: taken, because unit files have them, but without effect. */
const IGNORED_FLAG_FIELDS: Fields = {
  applicationMetricsCountLimit: int64({
    default: 100,
    keepsZero: true,
    flag: 'application-metrics-count-limit',
    about,
  }),
  containerHints: text({ default: '/etc/cadvisor/container_hints.json', flag: 'container-hints', about }),
  containerd: text({ default: '/run/containerd/containerd.sock', flag: 'containerd', about }),
  containerdNamespace: text({ default: 'k8s.io', flag: 'containerd-namespace', about }),
  enableLoadReader: bool({ default: false, flag: 'enable-load-reader', about }),
  eventStorageAgeLimit: text({ default: 'default=0', flag: 'event-storage-age-limit', about }),
  eventStorageEventLimit: text({ default: 'default=0', flag: 'event-storage-event-limit', about }),
  globalHousekeepingInterval: duration({ default: '1m', flag: 'global-housekeeping-interval', about }),
  logCadvisorUsage: bool({ default: false, flag: 'log-cadvisor-usage', about }),
  storageDriverBufferDuration: duration({ default: '1m', flag: 'storage-driver-buffer-duration', about }),
  storageDriverDb: text({ default: 'cadvisor', flag: 'storage-driver-db', about }),
  storageDriverHost: text({ default: 'localhost:8086', flag: 'storage-driver-host', about }),
  storageDriverPassword: text({ default: 'root', flag: 'storage-driver-password', about }),
  storageDriverSecure: bool({ default: false, flag: 'storage-driver-secure', about }),
  storageDriverTable: text({ default: 'stats', flag: 'storage-driver-table', about }),
  storageDriverUser: text({ default: 'root', flag: 'storage-driver-user', about }),
}

/** A flag, and where its value goes. */
export interface FlagRow {
  readonly group: string
  readonly target: 'configuration' | 'flags' | 'nowhere'
  readonly path: readonly string[]
  readonly field: Field<unknown>
  readonly flag: FieldFlag<unknown>
}

function collectRows(
  fields: Fields,
  place: Pick<FlagRow, 'group' | 'target'>,
  parents: readonly string[] = [],
): readonly FlagRow[] {
  return Object.entries(fields).flatMap(([name, field]) => {
    const path = [...parents, name]
    if (field.fields !== undefined) return collectRows(field.fields, place, path)
    return field.flag === undefined ? [] : [{ ...place, path, field, flag: field.flag }]
  })
}

/** Every flag that we know; made again at each call, so keep it. */
export function listFlagRows(): readonly FlagRow[] {
  return [
    ...FLAG_GROUPS.flatMap(([group, fields]) => collectRows(fields, { group, target: 'flags' })),
    ...CONFIGURATION_GROUPS.flatMap(([group, fields]) => collectRows(fields, { group, target: 'configuration' })),
    ...collectRows(IGNORED_FLAG_FIELDS, { group: 'Deprecated: cAdvisor', target: 'nowhere' }),
  ]
}
