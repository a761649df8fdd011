import type { PullSecret } from '../images/credentials/pull-secrets.ts'
import { ObjectError } from './object-api.ts'
import type { NamespacedName } from './object-api.ts'
import type { PodObjects } from './pod-objects.ts'
import type { Logger } from '../../base/telemetry/logger.ts'

/** A Secret as pulls see it. One that cannot be read is no failure of the pull: the image may need no login. */
export async function findPullSecret(
  deps: { readonly objects: Pick<PodObjects, 'secret'>; readonly log: Logger },
  key: NamespacedName,
  signal: AbortSignal,
): Promise<PullSecret | undefined> {
  try {
    const { metadata, type = 'Opaque', data = {} } = await deps.objects.secret(key, signal)
    const bytes = Object.entries(data).map(([name, text]) => [name, Buffer.from(text, 'base64')] as const)
    return { uid: metadata?.uid ?? '', type, data: new Map(bytes) }
  } catch (error) {
    if (!(error instanceof ObjectError)) throw error
    const { namespace, name } = key
    deps.log.debug('cannot have an image pull secret', { secretName: `${namespace}/${name}`, error })
    return undefined
  }
}
