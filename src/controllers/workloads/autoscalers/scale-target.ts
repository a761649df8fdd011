import type {
  CrossVersionObjectReference,
  HorizontalPodAutoscaler,
  Scale,
} from '../../../model/generated/api-groups.ts'
import type { KubeClient } from '../../../protocols/kube-api/kube-client.ts'
import type { Live } from '../../engine/live-object.ts'

interface ResourceList {
  readonly resources: readonly { readonly name: string; readonly kind: string }[]
}

/** Where the size of a target is read and written. */
export interface ScaleTarget {
  readonly path: string
  readonly scale: Scale
}

// One request that hangs holds up the others no longer than this.
const REQUEST_MS = 30_000

/** The size of what an autoscaler is for, whatever its kind: the kind has to have a scale. */
export async function readScaleTarget(
  client: KubeClient,
  { metadata, spec }: Live<HorizontalPodAutoscaler>,
  signal: AbortSignal,
): Promise<ScaleTarget> {
  const { scaleTargetRef } = spec
  const place = await findPlace(client, scaleTargetRef, signal)
  const { namespace } = metadata
  const path = `${place.root}/namespaces/${encodeURIComponent(namespace)}/${place.plural}/${encodeURIComponent(scaleTargetRef.name)}/scale`
  const scale = await client.send<Scale>({ method: 'GET', path, timeoutMs: REQUEST_MS }, signal)
  return { path, scale }
}

/** Asks for another size of the very object that was read. */
export async function writeScale(
  client: KubeClient,
  { path, scale }: ScaleTarget,
  replicas: number,
  signal: AbortSignal,
): Promise<void> {
  const body = { metadata: { uid: scale.metadata?.uid }, spec: { replicas } }
  const contentType = 'application/merge-patch+json'
  await client.send({ method: 'PATCH', path, body, contentType, timeoutMs: REQUEST_MS }, signal)
}

async function findPlace(
  client: KubeClient,
  { apiVersion = 'v1', kind }: CrossVersionObjectReference,
  signal: AbortSignal,
): Promise<{ readonly root: string; readonly plural: string }> {
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
  const { resources } = await client.send<ResourceList>({ method: 'GET', path: root, timeoutMs: REQUEST_MS }, signal)
  const found = resources.find((resource) => resource.kind === kind && !resource.name.includes('/'))
  if (found === undefined) throw new Error(`no matches for kind "${kind}" in version "${apiVersion}"`)
  return { root, plural: found.name }
}
