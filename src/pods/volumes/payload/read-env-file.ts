import { DeadlineError } from '../../../base/async/abort-errors.ts'
import type { EnvironmentFile, Lookup } from '../../containers/environment/environment-sources.ts'
import { parseEnvFile } from '../../containers/environment/parse-env-file.ts'
import type { GuardedFiles } from '../../../system/guarded/guarded-files.ts'
import type { Pod, PodUid } from '../../../model/pod/pod.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'
import { errorMessage } from '../../../base/telemetry/error-text.ts'

export interface EnvFileDeps {
  readonly files: Pick<GuardedFiles, 'readFile'>
  /** Where a volume of a pod is; undefined while it is not there, and when no container mounts it. */
  readonly volumePath: (uid: PodUid, volumeName: string) => string | undefined
  readonly log: Logger
}

// As much as a ConfigMap can hold.
const MAX_BYTES = 1024 * 1024

/** One variable of a file that a container wrote into a volume of its pod. What goes to the pod's users names no path of the node. */
export async function readEnvFile(
  { files, volumePath, log }: EnvFileDeps,
  { pod, file }: { readonly pod: Pod; readonly file: EnvironmentFile },
  signal: AbortSignal,
): Promise<Lookup<string>> {
  const { volumeName, path, key } = file
  const { namespace, name, uid } = pod.metadata
  const root = volumePath(uid, volumeName)
  if (root === undefined) return { kind: 'unavailable', why: 'no container of the pod mounts this volume' }
  let content: Uint8Array
  try {
    content = await files.readFile({ root, path, maxBytes: MAX_BYTES }, signal)
  } catch (error) {
    signal.throwIfAborted()
    if (isAbsence(error)) return { kind: 'missing' }
    log.warn('cannot read a file of variables', { pod: `${namespace}/${name}`, volume: volumeName, path, error })
    return { kind: 'unavailable', why: reasonOf(error) }
  }
  return findVariable(content, key)
}

function findVariable(content: Uint8Array, key: string): Lookup<string> {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content)
    const value = parseEnvFile(text, key)
    return value === undefined ? { kind: 'missing' } : { kind: 'found', value }
  } catch (error) {
    const why = error instanceof TypeError ? 'it is not UTF-8 text, which a variable has to be' : errorMessage(error)
    return { kind: 'unavailable', why }
  }
}

function isAbsence(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(codeOf(error))
}

/** By the code alone: messages of the system have paths of the node in them. */
function reasonOf(error: unknown): string {
  if (error instanceof DeadlineError) return 'reading it takes too long'
  switch (codeOf(error)) {
    case 'EFBIG':
      return `it is larger than ${MAX_BYTES} bytes`
    case 'EINVAL':
      return 'it is no regular file'
    case 'EXDEV':
      return 'it is outside of its volume'
    case 'ELOOP':
      return 'too many links lead to it, or one that changes'
    case '':
      return 'it cannot be read'
    default:
      return `it cannot be read (${codeOf(error)})`
  }
}

function codeOf(error: unknown): string {
  return Error.isError(error) && 'code' in error && typeof error.code === 'string' ? error.code : ''
}
