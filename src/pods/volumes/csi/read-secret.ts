import type { NamespacedName } from '../../objects/object-api.ts'
import type { CsiVolumeDeps } from './csi-volume-deps.ts'
import { errorText } from '../../../base/telemetry/error-text.ts'

/** What a driver is to know that others are not; asked for again each time. */
export async function readSecret(
  { objects }: { readonly objects: Pick<CsiVolumeDeps['objects'], 'driverSecret'> },
  key: NamespacedName | undefined,
  field: string,
  signal: AbortSignal,
): Promise<Readonly<Record<string, string>>> {
  if (key === undefined) return {}
  try {
    const { data = {} } = await objects.driverSecret(key, signal)
    return Object.fromEntries(
      Object.entries(data).map(([name, value]) => [name, Buffer.from(value, 'base64').toString('utf8')]),
    )
  } catch (error) {
    signal.throwIfAborted()
    const message = `fetching ${field} ${key.namespace}/${key.name} failed: ${errorText(error)}`
    throw new Error(message, { cause: error })
  }
}
