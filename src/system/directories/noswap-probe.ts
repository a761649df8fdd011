import { readFile } from 'node:fs/promises'
import { release } from 'node:os'
import type { NodeEvents } from '../../model/events/node-events.ts'
import { isUserNamespace } from '../files/is-user-namespace.ts'
import type { Mounter } from '../mounts/mounter.ts'
import type { VolumeFiles } from './volume-files.ts'

/** Whether memory of a tmpfs can be kept from being swapped to a disk. */
export interface NoswapProbe {
  /** Found out at the first question. */
  supported(signal: AbortSignal): Promise<boolean>
}

export interface NoswapProbeDeps {
  readonly mounter: Pick<Mounter, 'mount' | 'unmount'>
  readonly volumeFiles: Pick<VolumeFiles, 'makeDirectory' | 'removeDirectory'>
  /** For a mount on trial; the agent's own. */
  readonly directory: string
  readonly swapIsOn: boolean
  readonly events: NodeEvents
  readonly readKernel?: () => Promise<KernelInfo>
}

interface KernelInfo {
  /** As uname says: 6.1.0-18-amd64. */
  readonly release: string
  readonly inUserNamespace: boolean
}

const TRIAL_DEADLINE_MS = 5000

/** Linux has the option noswap from 6.4 on, some distributions have it earlier; in a user namespace it is rejected. */
export function createNoswapProbe(deps: NoswapProbeDeps): NoswapProbe {
  let known: boolean | undefined
  return {
    async supported(signal) {
      if (known !== undefined) return known
      const { release, inUserNamespace } = await (deps.readKernel ?? readKernel)()
      known = !inUserNamespace && (isFrom64On(release) || (await tryMount(deps, signal)))
      if (!known && deps.swapIsOn) {
        const message =
          'The tmpfs noswap option is not supported. Memory-backed volumes (e.g. secrets, emptyDirs, etc.) might be swapped to disk and should no longer be considered secure.'
        deps.events.record({ type: 'Warning', reason: 'PossibleMemoryBackedVolumesOnDisk', message })
      }
      return known
    },
  }
}

async function tryMount({ mounter, volumeFiles, directory }: NoswapProbeDeps, signal: AbortSignal): Promise<boolean> {
  await volumeFiles.makeDirectory(directory, 0o750)
  const request = { fileSystem: 'tmpfs', source: 'tmpfs', target: directory, options: ['noswap'] }
  const works = await mounter.mount({ ...request, deadlineMs: TRIAL_DEADLINE_MS }, signal).then(
    () => true,
    () => false,
  )
  signal.throwIfAborted()
  // Also what an agent left behind that died in the middle of this.
  await mounter.unmount(directory, { force: false }, signal)
  await volumeFiles.removeDirectory(directory)
  return works
}

function isFrom64On(release: string): boolean {
  const [major = 0, minor = 0] = release.split('.').map((part) => Number.parseInt(part, 10))
  return major > 6 || (major === 6 && minor >= 4)
}

async function readKernel(): Promise<KernelInfo> {
  const map = await readFile('/proc/self/uid_map', 'utf8')
  return { release: release(), inUserNamespace: isUserNamespace(map) }
}
