import { errorMessage } from '../../../base/telemetry/error-text.ts'
import { expandVolume, reportFailedGrowth } from '../expand/expand-volume.ts'
import type { Sizing } from '../expand/expand-volume.ts'
import type { SetUpRequest } from '../volume-kind.ts'
import type { LocalVolume, LocalVolumeDeps } from './local-volume-deps.ts'
import { deviceMountPath } from './mount-device.ts'

export interface ExpandLocalVolume {
  readonly request: SetUpRequest
  readonly sizing: Sizing
  /** Looks what the volume is; asked only when it is to become larger. */
  readonly inspect: () => Promise<LocalVolume>
}

/** Makes the file system of a device as large as the device has become; a directory, or a device without one, already is. */
export async function expandLocalVolume(
  deps: LocalVolumeDeps,
  { request, sizing, inspect }: ExpandLocalVolume,
  signal: AbortSignal,
): Promise<void> {
  const { source, readOnly } = request
  const hasFiles = source.kind !== 'persistent' || source.volume.spec?.volumeMode !== 'Block'
  const grow = async () => {
    const { kind, path, name } = await inspect()
    if (kind === 'blockDevice' && hasFiles)
      await deps.devices.grow(path, deviceMountPath(deps.rootDirectory, name), signal)
  }
  const wanted = { request, sizing, readOnly }
  await expandVolume(
    deps,
    {
      ...wanted,
      async grow(growth) {
        try {
          await grow()
          return true
        } catch (error) {
          signal.throwIfAborted()
          await reportFailedGrowth(deps, growth, { message: errorMessage(error), infeasible: false }, signal)
          throw error
        }
      },
    },
    signal,
  )
}
