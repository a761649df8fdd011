import type { Payload, PayloadFile } from '../../host/payload.ts'
import type { ResourceAmounts } from '../../model/compute-pod-requests.ts'
import type { ServiceAccountTokenProjection, VolumeProjection } from '../../model/generated/core-v1.ts'
import type { Pod } from '../../model/pod.ts'
import { utf8Bytes } from '../../model/utf8-bytes.ts'
import type { VolumeContent } from '../volume-content.ts'
import { computeDownwardPayload } from './compute-downward-payload.ts'
import { gatherConfigMap, gatherSecret } from './gather-objects.ts'
import { joinErrors } from './join-errors.ts'

export interface ProjectionFacts {
  readonly pod: Pod
  readonly defaultMode: number
  readonly fsUser: number | undefined
  readonly fsGroup: number | undefined
  readonly nodeAllocatable: ResourceAmounts
  readonly content: VolumeContent
}

const TOKEN_SECONDS = 3600
const OWNER_ONLY = 0o600

/** The files of all sources together: of one path the later source counts, and all that fails is told at once. */
export async function gatherProjection(
  sources: readonly VolumeProjection[] | undefined,
  facts: ProjectionFacts,
  signal: AbortSignal,
): Promise<Payload> {
  const results = await Promise.allSettled((sources ?? []).map((source) => gatherSource(source, facts, signal)))
  signal.throwIfAborted()
  const errors = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
  if (errors.length > 0) throw joinErrors(errors)
  return new Map(results.flatMap((result) => (result.status === 'fulfilled' ? [...result.value] : [])))
}

async function gatherSource(source: VolumeProjection, facts: ProjectionFacts, signal: AbortSignal): Promise<Payload> {
  const { configMap, secret, downwardAPI, serviceAccountToken, clusterTrustBundle, podCertificate } = source
  const { content, pod, defaultMode } = facts
  const { namespace } = pod.metadata
  if (secret !== undefined) {
    const { name, items, optional } = secret
    return await gatherSecret(content, { namespace, name, items, optional, defaultMode }, signal)
  }
  if (configMap !== undefined) {
    const { name, items, optional } = configMap
    return await gatherConfigMap(content, { namespace, name, items, optional, defaultMode }, signal)
  }
  if (downwardAPI !== undefined) return computeDownwardPayload(downwardAPI.items, facts)
  if (serviceAccountToken !== undefined) return await gatherToken(serviceAccountToken, facts, signal)
  if (clusterTrustBundle !== undefined) throw notSupported('clusterTrustBundle', 'ClusterTrustBundleProjection')
  if (podCertificate !== undefined) throw notSupported('podCertificate', 'PodCertificateRequest')
  return new Map()
}

async function gatherToken(
  { path, audience, expirationSeconds }: ServiceAccountTokenProjection,
  { content, pod, defaultMode, fsUser, fsGroup }: ProjectionFacts,
  signal: AbortSignal,
): Promise<Payload> {
  const { name, uid } = pod.metadata
  const spec = {
    audiences: audience === undefined || audience === '' ? [] : [audience],
    expirationSeconds: expirationSeconds ?? TOKEN_SECONDS,
    boundObject: { kind: 'Pod', name, uid } as const,
  }
  const { token } = await content.token(pod, spec, signal)
  // Who may read it is known then: nobody else needs to.
  const mode = fsUser === undefined && fsGroup === undefined ? defaultMode : OWNER_ONLY
  const file: PayloadFile = { content: utf8Bytes(token), mode, owner: fsUser }
  return new Map([[path, file]])
}

function notSupported(source: string, gate: string): Error {
  return new Error(`Cannot project ${source}: not supported, the feature gate ${gate} is off`)
}
