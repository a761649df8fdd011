import type { Toleration } from '../../model/generated/core-v1.ts'
import { CONFIG_HASH_ANNOTATION, parsePodUid } from '../../model/pod/pod.ts'
import type { Pod } from '../../model/pod/pod.ts'
import { decodePods } from '../../model/schema/decode-pods.ts'
import type { DecodedManifest } from '../../model/schema/decode-pods.ts'
import type { PodRules } from '../../model/schema/validate-pod.ts'
import type { ManifestPod } from '../../model/schema/default-pod.ts'
import { canonicalJson } from './canonical-json.ts'
import { fnv128 } from './fnv128.ts'

/** Where a manifest came from; part of the identity of its pod. */
export type StaticPodOrigin =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'http'; readonly url: string }

/** What of this node goes into its static pods. */
export interface StaticPodSettings {
  readonly nodeName: string
  /** Refuse pods that refer to objects of the API. Parity: the gate PreventStaticPodAPIReferences. */
  readonly refuseApiReferences: boolean
  /** What is legal only where a feature is on. */
  readonly rules?: PodRules
}

// Node problems must not evict what was put on the node by hand.
const NO_EXECUTE: Toleration = { operator: 'Exists', effect: 'NoExecute' }

/** Bytes of a manifest → static pods of this node; throws ManifestError. */
export function decodeStaticPods(
  bytes: Uint8Array,
  origin: StaticPodOrigin,
  settings: StaticPodSettings,
): DecodedManifest {
  return decodePods(bytes, {
    identify: (pod) => identifyStaticPod(pod, origin, settings.nodeName),
    refuseApiReferences: settings.refuseApiReferences,
    ...(settings.rules && { rules: settings.rules }),
    allowList: origin.kind === 'http',
  })
}

/** A static pod's identity follows from its content, its node and its place, so that it survives a restart of the agent. */
function identifyStaticPod(pod: ManifestPod, origin: StaticPodOrigin, nodeName: string): Pod {
  const place = origin.kind === 'file' ? `file:${origin.path}` : `url:${origin.url}`
  const { metadata, spec } = pod
  const uid = parsePodUid(metadata.uid || fnv128(`${canonicalJson({ metadata, spec })}host:${nodeName}${place}`))
  return {
    metadata: {
      ...metadata,
      uid,
      name: `${metadata.name ?? ''}-${nodeName.toLowerCase()}`,
      namespace: metadata.namespace || 'default',
      annotations: { ...metadata.annotations, [CONFIG_HASH_ANNOTATION]: uid },
    },
    spec: {
      ...spec,
      nodeName,
      ...(origin.kind === 'file' && { tolerations: addToleration(spec.tolerations ?? [], NO_EXECUTE) }),
    },
    status: { ...pod.status, phase: 'Pending' },
  }
}

/** Adds a toleration, or puts it in the place of one that differs only in how long it lasts. */
function addToleration(tolerations: readonly Toleration[], added: Toleration): readonly Toleration[] {
  const isSame = ({ key, operator, value, effect }: Toleration) =>
    (key ?? '') === (added.key ?? '') &&
    operator === added.operator &&
    (value ?? '') === (added.value ?? '') &&
    effect === added.effect
  return tolerations.some(isSame) ? tolerations.map((each) => (isSame(each) ? added : each)) : [...tolerations, added]
}
