import { FreshReads } from '../../base/async/fresh-reads.ts'
import type { StateFile } from '../../pods/allocations/allocation-file.ts'
import type { DeviceAssignments } from './device-assignments.ts'
import { formatDeviceCheckpoint } from './device-checkpoint.ts'
import type { DeviceInventory } from './device-inventory.ts'

export interface DeviceRecordDeps {
  readonly file: Pick<StateFile, 'write'>
  readonly inventory: Pick<DeviceInventory, 'resources' | 'devices'>
  readonly assignments: Pick<DeviceAssignments, 'list'>
}

/** What a later agent has to know of devices, on the disk. */
export class DeviceRecord {
  readonly #deps: DeviceRecordDeps
  readonly #writes = new FreshReads<'record', void>(() => this.#write())
  /** Where nothing is known of devices, there is no record: so the next agent knows that too. */
  #written = formatDeviceCheckpoint({ entries: [], registered: new Map() })

  constructor(deps: DeviceRecordDeps) {
    this.#deps = deps
  }

  /** Resolves when all that is true now is on the disk. */
  async write(): Promise<void> {
    await this.#writes.read('record')
  }

  async #write(): Promise<void> {
    const { file, inventory, assignments } = this.#deps
    const healthy = (resource: string) =>
      [...inventory.devices(resource).values()].filter(({ isHealthy }) => isHealthy).map(({ id }) => id)
    const text = formatDeviceCheckpoint({
      // What the plugin has not given is chosen anew by whoever comes next.
      entries: assignments
        .list()
        .flatMap(({ devices, ...place }) =>
          devices.kind === 'given' ? [{ ...place, byNode: devices.byNode, response: devices.response }] : [],
        ),
      registered: new Map(inventory.resources.map((resource) => [resource, healthy(resource)])),
    })
    if (text === this.#written) return
    await file.write(text)
    this.#written = text
  }
}
