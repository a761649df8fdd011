import type { Payload } from '../../../system/files/payload/payload.ts'
import type { KeyToPath } from '../../../model/generated/core-v1.ts'
import { ObjectError } from '../../objects/object-api.ts'
import type { VolumeContent } from './volume-content.ts'
import { computeKeyPayload } from './compute-key-payload.ts'
import { configMapData, secretData } from './object-data.ts'

/** Which object a volume shows, and which part of it. */
export interface ObjectReference {
  readonly namespace: string
  readonly name: string | undefined
  readonly items: readonly KeyToPath[] | undefined
  readonly optional: boolean | undefined
  readonly defaultMode: number
}

/** The files of a ConfigMap; none when it may be missing and is. */
export async function gatherConfigMap(
  content: VolumeContent,
  reference: ObjectReference,
  signal: AbortSignal,
): Promise<Payload> {
  const { namespace, name = '', items, optional = false, defaultMode } = reference
  const configMap = await unlessMissing(content.configMap({ namespace, name }, signal), optional)
  const missingKey = 'configmap references non-existent config key'
  return computeKeyPayload(configMapData(configMap ?? {}), { items, defaultMode, optional, missingKey })
}

/** The files of a Secret; none when it may be missing and is. */
export async function gatherSecret(
  content: VolumeContent,
  reference: ObjectReference,
  signal: AbortSignal,
): Promise<Payload> {
  const { namespace, name = '', items, optional = false, defaultMode } = reference
  const secret = await unlessMissing(content.secret({ namespace, name }, signal), optional)
  const missingKey = 'references non-existent secret key'
  return computeKeyPayload(secretData(secret ?? {}), { items, defaultMode, optional, missingKey })
}

/** Only the certainty that there is no such object counts as missing. */
async function unlessMissing<T>(object: Promise<T>, optional: boolean): Promise<T | undefined> {
  try {
    return await object
  } catch (error) {
    if (optional && error instanceof ObjectError && error.reason === 'NotFound') return undefined
    throw error
  }
}
