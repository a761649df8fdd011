import type { PodStatus } from '../../model/generated/core-v1.ts'
import { newestInstance } from '../../model/pod/observed-pod.ts'
import type { ObservedPod } from '../../model/pod/observed-pod.ts'
import type { Pod } from '../../model/pod/pod.ts'
import type { Route } from '../http/route.ts'
import { sendAnswer } from '../http/send-answer.ts'
import { formatExactJson } from '../../base/document/exact-json.ts'
import type { PodView } from './pod-view.ts'

/** GET /pods: every desired pod, as a PodList. A pod whose status did not change is not encoded again. */
export function createPodsRoute(views: () => readonly PodView[]): Route {
  const texts = new WeakMap<PodStatus, { readonly pod: Pod; readonly text: string }>()
  const toText = ({ pod, status }: PodView) => {
    const known = texts.get(status)
    if (known?.pod === pod) return known.text
    const text = formatExactJson({ metadata: pod.metadata, spec: pod.spec, status })
    texts.set(status, { pod, text })
    return text
  }
  return createListRoute('/pods', () => views().map(toText))
}

/** GET /runningpods/: what runs according to the runtime, desired or not. */
export function createRunningPodsRoute(observed: () => readonly ObservedPod[]): Route {
  return createListRoute('/runningpods', () => observed().flatMap((pod) => toRunningPod(pod) ?? []))
}

function createListRoute(path: string, items: () => readonly string[]): Route {
  return {
    path,
    methods: ['GET'],
    async handle(_, response) {
      const list = items()
      // As Go writes a list without a pod.
      const text = list.length === 0 ? 'null' : `[${list.join(',')}]`
      const body = `{"kind":"PodList","apiVersion":"v1","metadata":{},"items":${text}}`
      sendAnswer(response, { status: 200, type: 'application/json', body })
    },
  }
}

function toRunningPod(pod: ObservedPod): string | undefined {
  const running = pod.containers.filter(
    ({ state, name, id }) => state === 'running' && newestInstance(pod, name)?.id === id,
  )
  if (running.length === 0) return undefined
  const { name, namespace, uid } = pod
  const containers = running.map((container) => ({ name: container.name, image: container.image, resources: {} }))
  return formatExactJson({ metadata: { name, namespace, uid }, spec: { containers }, status: {} })
}
