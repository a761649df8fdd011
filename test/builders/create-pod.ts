import type { Container, ObjectMeta, PodSpec, PodStatus } from '../../src/model/generated/core-v1.ts'
import { parsePodUid } from '../../src/model/pod/pod.ts'
import type { Pod } from '../../src/model/pod/pod.ts'

/** What a test says about its pod; the rest is a plain pod with one container. */
export interface PodParts {
  readonly metadata?: Partial<ObjectMeta>
  readonly spec?: Partial<PodSpec>
  readonly status?: PodStatus
}

/** The pod "web" of the namespace "shop", as decoded and defaulted. */
export function createPod({ metadata, spec, status }: PodParts = {}): Pod {
  return {
    metadata: { name: 'web', namespace: 'shop', ...metadata, uid: parsePodUid(metadata?.uid ?? 'u-1') },
    spec: { containers: [createContainer()], enableServiceLinks: true, securityContext: {}, ...spec },
    status,
  } as Pod
}

export function createContainer(parts: Partial<Container> = {}): Container {
  return { name: 'main', image: 'registry.test/app:1', ...parts }
}
