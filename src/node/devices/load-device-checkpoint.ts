import type { Logger } from '../../base/telemetry/logger.ts'
import { parseDeviceCheckpoint } from './device-checkpoint-file.ts'
import type { DeviceCheckpoint } from './device-checkpoint-file.ts'
import type { StateFile } from '../../system/files/state/state-file.ts'
import { setAsideBroken } from '../../system/files/state/state-file.ts'

export interface LoadDeviceCheckpointDeps {
  readonly file: StateFile
  readonly log: Logger
}

/** Without a record, nothing is known of devices. */
export interface LoadedDevices extends DeviceCheckpoint {
  /** Was there a record, whatever stood in it? Without one the machine is taken for a new one. */
  readonly isKnown: boolean
}

/** What an earlier agent recorded of devices. A record that cannot be read never stops the agent: it is set aside. */
export async function loadDeviceCheckpoint({ file, log }: LoadDeviceCheckpointDeps): Promise<LoadedDevices> {
  const nothing = { entries: [], registered: new Map<string, readonly string[]>() }
  try {
    const text = await file.read()
    if (text === undefined) return { ...nothing, isKnown: false }
    return { ...parseDeviceCheckpoint(text), isKnown: true }
  } catch (error) {
    log.error('cannot read which devices containers have, setting the record aside and reading what runs', {
      ...(await setAsideBroken(file, error)),
      error,
    })
    return { ...nothing, isKnown: true }
  }
}
