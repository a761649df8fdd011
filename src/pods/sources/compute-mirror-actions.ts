import { CONFIG_HASH_ANNOTATION, CONFIG_MIRROR_ANNOTATION, podFullName } from '../../model/pod/pod.ts'
import type { Pod } from '../../model/pod/pod.ts'

/** A static pod of this node. */
export interface StaticPod {
  readonly pod: Pod
  /** False for one whose manifest is gone and that has not ended yet. */
  readonly isDesired: boolean
}

export interface MirrorInput {
  readonly staticPods: readonly StaticPod[]
  /** What the API has of mirror pods for this node. */
  readonly mirrors: readonly Pod[]
  /** Every source has reported what it has: a mirror without a static pod is not desired. */
  readonly allSeen: boolean
  /** The Node as the API has it; undefined when it has none, or none that could own anything. */
  readonly node: { readonly name: string; readonly uid: string } | undefined
}

/** One thing to do about one static pod, by its full name. */
export type MirrorAction =
  | { readonly kind: 'delete'; readonly fullName: string; readonly mirror: Pod }
  | { readonly kind: 'create'; readonly fullName: string; readonly body: MirrorBody }

/** The mirror of a static pod as it is sent to the API. */
export type MirrorBody = Readonly<Record<string, unknown>> & { readonly metadata: Partial<Pod['metadata']> }

/**
 * What has to be done so that each static pod has the one mirror that belongs to it. A mirror that has to be another goes first; while the
 * static pod that it shows still ends, it stays, and the next of that name has none.
 */
export function computeMirrorActions({ staticPods, mirrors, allSeen, node }: MirrorInput): readonly MirrorAction[] {
  const ending = new Set(staticPods.filter((each) => !each.isDesired).map(({ pod }) => podFullName(pod)))
  const wanted = new Map(
    staticPods.map(({ pod }) => [podFullName(pod), pod] as const).filter(([fullName]) => !ending.has(fullName)),
  )
  const isRight = (mirror: Pod) => {
    const pod = wanted.get(podFullName(mirror))
    return pod === undefined ? ending.has(podFullName(mirror)) || !allSeen : isMirrorOf(mirror, pod)
  }
  const deletions = mirrors
    .filter((mirror) => !isRight(mirror))
    .map((mirror) => ({ kind: 'delete', fullName: podFullName(mirror), mirror }) as const)
  const taken = new Set(mirrors.map(podFullName))
  const creations = [...wanted].flatMap(([fullName, pod]) =>
    taken.has(fullName) || node === undefined ? [] : [{ kind: 'create', fullName, body: toMirror(pod, node) } as const],
  )
  return [...deletions, ...creations]
}

/** True for a mirror that shows this very static pod, and is to stay. */
function isMirrorOf({ metadata }: Pod, pod: Pod): boolean {
  return (
    metadata.deletionTimestamp === undefined &&
    metadata.annotations?.[CONFIG_MIRROR_ANNOTATION] === pod.metadata.annotations?.[CONFIG_HASH_ANNOTATION]
  )
}

/** The same pod in the API, owned by the node that runs it and gone with it. */
function toMirror({ metadata, spec }: Pod, node: { readonly name: string; readonly uid: string }): MirrorBody {
  const { name, namespace, labels, annotations } = metadata
  const hash = annotations?.[CONFIG_HASH_ANNOTATION] ?? metadata.uid
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace,
      ...(labels === undefined ? {} : { labels }),
      annotations: { ...annotations, [CONFIG_MIRROR_ANNOTATION]: hash },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: node.name, uid: node.uid, controller: true }],
    },
    spec,
  }
}
