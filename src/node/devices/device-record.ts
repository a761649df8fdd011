import type { DeviceAssignments } from './device-assignments.ts'
import { formatDeviceCheckpoint } from './device-checkpoint-file.ts'
import type { DeviceInventory } from './device-inventory.ts'
import type { StateFile } from '../../system/files/state/state-file.ts'
import { StateRecord } from '../../system/files/state/state-file.ts'

export interface DeviceRecordDeps {
  readonly file: Pick<StateFile, 'write'>
  readonly inventory: Pick<DeviceInventory, 'resources' | 'devices'>
  readonly assignments: Pick<DeviceAssignments, 'list'>
}

/** What a later agent has to know of devices, on the disk. */
export class DeviceRecord {
  readonly #deps: DeviceRecordDeps
  readonly #record: StateRecord

  constructor(deps: DeviceRecordDeps) {
    this.#deps = deps
    // Where nothing is known of devices, there is no record: so the next agent knows that too.
    const nothing = formatDeviceCheckpoint({ entries: [], registered: new Map() })
    this.#record = new StateRecord({ write: (text) => deps.file.write(text), format: () => this.#format() }, nothing)
  }

  /** Resolves when all that is true now is on the disk. */
  async write(): Promise<void> {
    await this.#record.save()
  }

  #format(): string {
    const { inventory, assignments } = this.#deps
    const healthy = (resource: string) =>
      [...inventory.devices(resource).values()].filter(({ isHealthy }) => isHealthy).map(({ id }) => id)
    return formatDeviceCheckpoint({
      // The next agent chooses again what the plugin has not given.
      entries: assignments
        .list()
        .flatMap(({ devices, ...place }) =>
          devices.kind === 'given' ? [{ ...place, byNode: devices.byNode, response: devices.response }] : [],
        ),
      registered: new Map(inventory.resources.map((resource) => [resource, healthy(resource)])),
    })
  }
}
