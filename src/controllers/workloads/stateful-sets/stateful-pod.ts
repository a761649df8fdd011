import type { StatefulSet } from '../../../model/generated/api-groups.ts'
import type { OwnerReference, PersistentVolumeClaim, Pod, PodTemplateSpec } from '../../../model/generated/core-v1.ts'
import type { Live } from '../../engine/live-object.ts'
import { toPod } from '../pods/pod-control.ts'
import { REVISION_LABEL } from './compute-stateful-plan.ts'

export interface Identity {
  readonly ordinal: number
  /** The name of the revision that it is made from. */
  readonly revision: string
  readonly template: PodTemplateSpec
}

function claimName({ metadata }: Live<StatefulSet>, template: string, ordinal: number): string {
  return `${template}-${metadata.name}-${ordinal}`
}

/** A pod with a name, and volumes, that its successor will have too. */
export function toStatefulPod(set: Live<StatefulSet>, reference: OwnerReference, identity: Identity): Pod {
  const { ordinal, revision, template } = identity
  const name = `${set.metadata.name}-${ordinal}`
  const pod = toPod(set.metadata.name, reference, template)
  const { metadata } = pod
  const claims = (set.spec.volumeClaimTemplates ?? []).map((claim) => {
    const volume = claim.metadata?.name ?? ''
    return { name: volume, persistentVolumeClaim: { claimName: claimName(set, volume, ordinal) } }
  })
  const replaced = new Set(claims.map((claim) => claim.name))
  const others = (template.spec?.volumes ?? []).filter((volume) => !replaced.has(volume.name))
  return {
    metadata: {
      ...metadata,
      name,
      labels: {
        ...metadata?.labels,
        'statefulset.kubernetes.io/pod-name': name,
        'apps.kubernetes.io/pod-index': String(ordinal),
        [REVISION_LABEL]: revision,
      },
    },
    spec: {
      containers: [],
      ...template.spec,
      hostname: name,
      ...(set.spec.serviceName && { subdomain: set.spec.serviceName }),
      ...(claims.length + others.length > 0 && { volumes: [...claims, ...others] }),
    },
  }
}

/** The claims that a pod needs. */
export function toClaims(
  set: Live<StatefulSet>,
  ordinal: number,
): readonly (PersistentVolumeClaim & { readonly metadata: { readonly name: string } })[] {
  return (set.spec.volumeClaimTemplates ?? []).map(({ metadata = {}, spec }) => ({
    metadata: {
      name: claimName(set, metadata.name ?? '', ordinal),
      labels: { ...metadata.labels, ...set.spec.selector.matchLabels },
      ...(metadata.annotations && { annotations: metadata.annotations }),
    },
    spec,
  }))
}
