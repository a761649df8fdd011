import { errorMessage } from '../../base/telemetry/error-text.ts'
import type { Node, PersistentVolume, PersistentVolumeClaim, Pod } from '../../model/generated/core-v1.ts'
import type { KubeClient } from '../../protocols/kube-api/kube-client.ts'
import { readList } from '../../protocols/kube-api/list-watch/read-list.ts'
import { computeStorageView } from '../messages/compute-storage-view.ts'
import type { StorageView } from '../messages/compute-storage-view.ts'
import type { LiveFeed } from './live/live-feed.ts'
import type { PageAgent } from './page-agent.ts'

interface StorageDeps {
  readonly client: KubeClient
  readonly agent: Pick<PageAgent, 'images'>
  readonly feed: Pick<LiveFeed, 'summarize'>
  readonly nodeName: string
  readonly isOneOfMany: boolean
}

/** Reads what there is of images, claims and volumes; what cannot be read is named, and the rest is shown. */
export async function readStorage(deps: StorageDeps, signal: AbortSignal): Promise<StorageView> {
  const { client, agent, feed, nodeName, isOneOfMany } = deps
  const problems: string[] = []
  const attempt = async <T>(what: string, work: () => Promise<T>, otherwise: T): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      signal.throwIfAborted()
      problems.push(`${what}: ${errorMessage(error)}`)
      return otherwise
    }
  }
  const list = <T>(what: string, path: string, query: Readonly<Record<string, string>> = {}) =>
    attempt(
      what,
      async () => (await readList<T>({ client, path, query, version: '' }, signal)).items,
      [] as readonly T[],
    )
  const [pods, claims, volumes, node, images, summary] = await Promise.all([
    list<Pod>('Pods', '/api/v1/pods', isOneOfMany ? { fieldSelector: `spec.nodeName=${nodeName}` } : {}),
    list<PersistentVolumeClaim>('Claims', '/api/v1/persistentvolumeclaims'),
    list<PersistentVolume>('Volumes', '/api/v1/persistentvolumes'),
    attempt<Node | undefined>(
      'The node',
      () => client.send<Node>({ method: 'GET', path: `/api/v1/nodes/${nodeName}` }, signal),
      undefined,
    ),
    attempt('Images', () => agent.images(signal), undefined),
    attempt('Disks', () => feed.summarize(signal), undefined),
  ])
  const nodeImages = node?.status?.images ?? []
  return { ...computeStorageView({ images, nodeImages, pods, claims, volumes, summary, isOneOfMany }), problems }
}
