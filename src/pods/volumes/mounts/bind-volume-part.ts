import { dirname } from 'node:path'
import { ContainerConfigError } from '../../containers/pod-config-error.ts'
import type { GuardedFiles } from '../../../system/guarded/guarded-files.ts'
import { podLogName } from '../../../model/pod/pod.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'
import type { VolumePart } from './compute-container-mounts.ts'
import type { NoteStep } from '../../../base/telemetry/note-step.ts'
import type { VolumeFolders } from '../take-down-volume.ts'
import { hasCode } from '../../../system/files/error-codes.ts'

export interface BindPartDeps {
  readonly guarded: Pick<GuardedFiles, 'makeSubPath' | 'bindSubPath'>
  readonly folders: Pick<VolumeFolders, 'makeFolder'>
  readonly log: Logger
}

export interface BindPartRequest {
  readonly pod: Pod
  readonly container: { readonly name: string }
  readonly part: VolumePart
  readonly noteStep: NoteStep
}

/** Binds a part of a volume where the runtime finds it. Users read no path of the node: the log has the cause. */
export async function bindVolumePart(deps: BindPartDeps, request: BindPartRequest, signal: AbortSignal): Promise<void> {
  const { container, part, noteStep } = request
  const step = `bind part of volume "${part.volumeName}" for container "${container.name}"`
  await noteStep(step, async () => {
    if (await tryToBind(deps, request, signal)) return
    const { root, path } = part
    await orHide(deps, request, 'create subPath directory', () => deps.guarded.makeSubPath({ root, path }, signal))
    if (!(await tryToBind(deps, request, signal))) throw hidden(request, 'prepare subPath')
  })
}

/** False when there is no such part. */
async function tryToBind(deps: BindPartDeps, request: BindPartRequest, signal: AbortSignal): Promise<boolean> {
  const { root, path, target } = request.part
  return await orHide(deps, request, 'prepare subPath', async () => {
    await deps.folders.makeFolder(dirname(target))
    try {
      await deps.guarded.bindSubPath({ root, path, target }, signal)
      return true
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return false
      throw error
    }
  })
}

async function orHide<T>(
  { log }: BindPartDeps,
  request: BindPartRequest,
  what: string,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const { pod, container, part } = request
    const fields = { pod: podLogName(pod), uid: pod.metadata.uid, container: container.name, volume: part.volumeName }
    log.warn('cannot give a container a part of a volume', { ...fields, subPath: part.path, error })
    throw hidden(request, what)
  }
}

function hidden({ container, part }: BindPartRequest, what: string): ContainerConfigError {
  return new ContainerConfigError(
    `failed to ${what} for volumeMount "${part.volumeName}" of container "${container.name}"`,
  )
}
