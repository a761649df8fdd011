import type { PodStatus } from '../model/generated/core-v1.ts'
import type { Pod } from '../model/pod.ts'
import type { Reply } from './run-http-server.ts'

interface PodView {
  readonly pod: Pod
  readonly status: PodStatus
}

/** GET /pods: every pod that is wanted here, as a PodList. A pod whose status did not change is not written anew. */
export function createPodsRoute(views: () => readonly PodView[]): () => Reply {
  const texts = new WeakMap<PodStatus, { readonly pod: Pod; readonly text: string }>()
  const toText = ({ pod, status }: PodView) => {
    const known = texts.get(status)
    if (known?.pod === pod) return known.text
    const text = JSON.stringify({ metadata: pod.metadata, spec: pod.spec, status })
    texts.set(status, { pod, text })
    return text
  }
  return () => ({
    status: 200,
    type: 'application/json',
    body: `{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[${views().map(toText).join(',')}]}`,
  })
}
