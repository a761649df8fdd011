import type { Payload, PayloadFile } from '../../../system/files/payload/payload.ts'
import type { ResourceAmounts } from '../../../model/resources/compute-pod-requests.ts'
import type {
  ClusterTrustBundleProjection,
  PodCertificateProjection,
  ServiceAccountTokenProjection,
  VolumeProjection,
} from '../../../model/generated/core-v1.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import { utf8Bytes } from '../../../model/text/utf8-bytes.ts'
import type { VolumeContent } from './volume-content.ts'
import { computeDownwardPayload } from './compute-downward-payload.ts'
import { gatherConfigMap, gatherSecret } from './gather-objects.ts'
import { joinErrors } from './join-errors.ts'

export interface ProjectionInfo {
  readonly pod: Pod
  /** The name of the volume in the pod. */
  readonly volume: string
  readonly defaultMode: number
  readonly fsUser: number | undefined
  readonly fsGroup: number | undefined
  readonly nodeAllocatable: ResourceAmounts
  readonly content: VolumeContent
}

const TOKEN_SECONDS = 3600
const OWNER_ONLY = 0o600

/** The files of all sources together: of one path the later source counts, and all that fails is reported at once. */
export async function gatherProjection(
  sources: readonly VolumeProjection[] | undefined,
  info: ProjectionInfo,
  signal: AbortSignal,
): Promise<Payload> {
  const results = await Promise.allSettled(
    (sources ?? []).map((source, index) => gatherSource({ ...source, index }, info, signal)),
  )
  signal.throwIfAborted()
  const errors = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
  if (errors.length > 0) throw joinErrors(errors)
  return new Map(results.flatMap((result) => (result.status === 'fulfilled' ? [...result.value] : [])))
}

async function gatherSource(
  source: VolumeProjection & { readonly index: number },
  info: ProjectionInfo,
  signal: AbortSignal,
): Promise<Payload> {
  const { configMap, secret, downwardAPI, serviceAccountToken, clusterTrustBundle, podCertificate, index } = source
  const { content, pod, defaultMode } = info
  const { namespace } = pod.metadata
  if (secret !== undefined) {
    const { name, items, optional } = secret
    return await gatherSecret(content, { namespace, name, items, optional, defaultMode }, signal)
  }
  if (configMap !== undefined) {
    const { name, items, optional } = configMap
    return await gatherConfigMap(content, { namespace, name, items, optional, defaultMode }, signal)
  }
  if (downwardAPI !== undefined) return computeDownwardPayload(downwardAPI.items, info)
  if (serviceAccountToken !== undefined) return await gatherToken(serviceAccountToken, info, signal)
  if (clusterTrustBundle !== undefined) return await gatherTrustAnchors(clusterTrustBundle, info, signal)
  if (podCertificate !== undefined) return await gatherCertificate(podCertificate, index, info, signal)
  return new Map()
}

async function gatherToken(
  { path, audience, expirationSeconds }: ServiceAccountTokenProjection,
  info: ProjectionInfo,
  signal: AbortSignal,
): Promise<Payload> {
  const { content, pod } = info
  const { name, uid } = pod.metadata
  const spec = {
    audiences: audience === undefined || audience === '' ? [] : [audience],
    expirationSeconds: Number(expirationSeconds ?? TOKEN_SECONDS),
    boundObject: { kind: 'Pod', name, uid } as const,
  }
  const { token } = await content.token(pod, spec, signal)
  return new Map([[path, toOwnFile(token, info)]])
}

async function gatherTrustAnchors(
  source: ClusterTrustBundleProjection,
  info: ProjectionInfo,
  signal: AbortSignal,
): Promise<Payload> {
  const { trustAnchors } = info.content
  if (trustAnchors === undefined) throw notSupported('clusterTrustBundle', 'ClusterTrustBundleProjection')
  const { name, signerName, optional, path } = source
  if (name === undefined && signerName === undefined)
    throw new Error('Cannot project clusterTrustBundle: expected a name or a signerName')
  const text = await trustAnchors(source, signal)
  if (text === '' && optional !== true) {
    const what = name === undefined ? `of signer "${signerName}" with these labels` : `called "${name}"`
    throw new Error(`Cannot project clusterTrustBundle: there is none ${what}`)
  }
  return new Map([[path, toOwnFile(text, info)]])
}

async function gatherCertificate(
  source: PodCertificateProjection,
  index: number,
  info: ProjectionInfo,
  signal: AbortSignal,
): Promise<Payload> {
  const { content, pod, volume } = info
  if (content.podCertificate === undefined) throw notSupported('podCertificate', 'PodCertificateRequest')
  const { keyPem, chainPem } = await content.podCertificate({ pod, volume, index, source }, signal)
  const files: readonly (readonly [string | undefined, string])[] = [
    [source.credentialBundlePath, `${keyPem}${chainPem}`],
    [source.keyPath, keyPem],
    [source.certificateChainPath, chainPem],
  ]
  return new Map(files.flatMap(([path = '', text]) => (path === '' ? [] : [[path, toOwnFile(text, info)]])))
}

/** When the pod has a user or a group, only those need to read it. */
function toOwnFile(text: string, { defaultMode, fsUser, fsGroup }: ProjectionInfo): PayloadFile {
  const mode = fsUser === undefined && fsGroup === undefined ? defaultMode : OWNER_ONLY
  return { content: utf8Bytes(text), mode, owner: fsUser }
}

function notSupported(source: string, gate: string): Error {
  return new Error(`Cannot project ${source}: not supported, the feature gate ${gate} is off`)
}
