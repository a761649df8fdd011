import type { CriClient } from './cri-client.ts'
import { CriCallError } from './cri-call-error.ts'

/** What answers on the socket. The name is the prefix of container ids in the API. */
export interface RuntimeVersion {
  readonly name: string
  readonly version: string
  readonly apiVersion: string
}

// The version of the kubelet's side of CRI; it has never changed.
const KUBELET_API_VERSION = '0.1.0'

/** Asks the runtime who it is and refuses one that speaks another CRI. */
export async function fetchRuntimeVersion(
  client: Pick<CriClient, 'version'>,
  signal: AbortSignal,
): Promise<RuntimeVersion> {
  const reply = await client.version({ version: KUBELET_API_VERSION }, signal)
  if (reply.version !== KUBELET_API_VERSION) {
    throw new CriCallError(
      'version',
      'InvalidReply',
      `${reply.runtimeName} answers version "${reply.version}", expected "${KUBELET_API_VERSION}"`,
    )
  }
  return { name: reply.runtimeName, version: reply.runtimeVersion, apiVersion: reply.runtimeApiVersion }
}

/** The check at start: both services answer, and the runtime is one we know to speak with. */
export async function checkRuntimeVersion(
  client: Pick<CriClient, 'version' | 'imageFsInfo'>,
  signal: AbortSignal,
): Promise<RuntimeVersion> {
  const version = await fetchRuntimeVersion(client, signal)
  await client.imageFsInfo({}, signal)
  return version
}
