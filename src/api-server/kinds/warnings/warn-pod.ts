import { sameValue } from '../../../base/document/same-value.ts'
import type { NodeSelectorTerm, ObjectMeta, PodSpec, PodTemplateSpec } from '../../../model/generated/core-v1.ts'
import { FieldPath } from '../../../model/schema/field-path.ts'
import type { ApiObject } from '../../store/api-object.ts'
import { warnOfAddress } from './warn-address.ts'
import { containersWithPaths, warnOfContainer } from './warn-container.ts'
import { warnOfPorts } from './warn-ports.ts'
import { warnOfFractions } from './warn-fractions.ts'
import { warnOfVolumes } from './warn-volumes.ts'
import { warningAt } from './warning-at.ts'

/** What is used, and what to use in its place. */
type Deprecations = Readonly<Record<string, string>>

const DEPRECATED_LABELS: Deprecations = {
  'beta.kubernetes.io/arch': 'deprecated since v1.14; use "kubernetes.io/arch" instead',
  'beta.kubernetes.io/os': 'deprecated since v1.14; use "kubernetes.io/os" instead',
  'failure-domain.beta.kubernetes.io/region': 'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
  'failure-domain.beta.kubernetes.io/zone': 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
  'beta.kubernetes.io/instance-type': 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
  'app.kubernetes.io/created-by': 'deprecated since v1.9',
  'scheduler.alpha.kubernetes.io/preferAvoidPods': 'deprecated since v1.22; use Taints and Tolerations instead',
  'node-role.kubernetes.io/master': 'use "node-role.kubernetes.io/control-plane" instead',
}

const DEPRECATED_ANNOTATIONS: Deprecations = {
  'scheduler.alpha.kubernetes.io/critical-pod': 'non-functional in v1.16+; use the "priorityClassName" field instead',
  'security.alpha.kubernetes.io/sysctls': 'non-functional in v1.11+; use the "sysctls" field instead',
  'security.alpha.kubernetes.io/unsafe-sysctls': 'non-functional in v1.11+; use the "sysctls" field instead',
}

const POD_SECCOMP_ANNOTATION = 'seccomp.security.alpha.kubernetes.io/pod'
const NO_MATCH = 'a null labelSelector results in matching no pod'

/** About the name of an object: why it is no DNS label, in words of the API; undefined when it is one. */
function whyNoLabel(name: string): string | undefined {
  if (/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(name))
    return name.length > 63 ? '[must be no more than 63 bytes]' : undefined
  return name.length > 63 ? '[must be no more than 63 bytes must not contain dots]' : '[must not contain dots]'
}

/** A name that works, but not as what pods and hosts are called. */
export function warnOfName({ name = '' }: ObjectMeta, use = 'Pod names and hostnames'): readonly string[] {
  const why = whyNoLabel(name)
  if (why === undefined) return []
  return [
    `metadata.name: this is used in ${use}, which can result in surprising behavior; a DNS label is recommended: ${why}`,
  ]
}

/** Advice about the template of a workload; of one that is changed, when its spec is another. */
export function warnOfTemplate(
  template: PodTemplateSpec | undefined,
  path: FieldPath,
  { object, before }: { readonly object: ApiObject; readonly before: ApiObject | undefined },
): readonly string[] {
  if (template?.spec === undefined) return []
  if (before !== undefined && sameValue(object.spec, before.spec)) return []
  return warnOfPod(template.spec, template.metadata ?? {}, path)
}

/** Advice about a pod or a template of pods: what is old, does nothing, or is said twice. */
export function warnOfPod(spec: PodSpec, meta: ObjectMeta, path = FieldPath.root): readonly string[] {
  const at = path.child('spec')
  return [
    ...warnOfNodeLabels(spec, at),
    ...warnOfAnnotations(spec, meta, path),
    ...warnOfVolumes(spec.volumes ?? [], at.child('volumes')),
    ...warnOfRepeated(spec, at),
    ...warnOfFractions(spec.overhead, at.child('overhead')),
    ...containersWithPaths(spec, at).flatMap(({ container, path: own }) =>
      warnOfContainer(container, own, { annotations: meta.annotations ?? {}, path, spec }),
    ),
    ...warnOfPorts(containersWithPaths(spec, at)),
    ...warnOfPodAffinity(spec, at.child('affinity')),
    ...(spec.dnsConfig?.nameservers ?? []).flatMap((address, index) =>
      warnOfAddress(address, at.child('dnsConfig').child('nameservers').index(index)),
    ),
    ...(spec.hostAliases ?? []).flatMap(({ ip }, index) =>
      warnOfAddress(ip, at.child('hostAliases').index(index).child('ip')),
    ),
  ]
}

function warnOfNodeLabels(spec: PodSpec, at: FieldPath): readonly string[] {
  const affinity = spec.affinity?.nodeAffinity
  const path = at.child('affinity').child('nodeAffinity')
  const terms = path.child('requiredDuringSchedulingIgnoredDuringExecution').child('nodeSelectorTerms')
  const preferred = path.child('preferredDuringSchedulingIgnoredDuringExecution')
  return [
    ...warnOfLabelKeys(Object.keys(spec.nodeSelector ?? {}), at.child('nodeSelector')),
    ...(affinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []).flatMap((term, index) =>
      warnOfTerm(term, terms.index(index)),
    ),
    ...(affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).flatMap(({ preference }, index) =>
      warnOfTerm(preference, preferred.index(index).child('preference')),
    ),
    ...(spec.topologySpreadConstraints ?? []).flatMap(({ topologyKey, labelSelector }, index) => {
      const own = at.child('topologySpreadConstraints').index(index)
      const why = DEPRECATED_LABELS[topologyKey]
      return [
        ...(why === undefined ? [] : [warningAt(own.child('topologyKey'), `${topologyKey} is ${why}`)]),
        ...(labelSelector === undefined ? [warningAt(own.child('labelSelector'), NO_MATCH)] : []),
      ]
    }),
  ]
}

/** Labels of nodes that have another name by now, as the keys of a map. */
function warnOfLabelKeys(keys: readonly string[], path: FieldPath): readonly string[] {
  return keys.flatMap((key) => {
    const why = DEPRECATED_LABELS[key]
    return why === undefined ? [] : [warningAt(path.key(key), why)]
  })
}

/** The same in a term that selects nodes. */
export function warnOfTerm({ matchExpressions = [] }: NodeSelectorTerm, path: FieldPath): readonly string[] {
  return matchExpressions.flatMap(({ key }, index) => {
    const why = DEPRECATED_LABELS[key]
    return why === undefined
      ? []
      : [warningAt(path.child('matchExpressions').index(index).child('key'), `${key} is ${why}`)]
  })
}

function warnOfAnnotations(spec: PodSpec, meta: ObjectMeta, path: FieldPath): readonly string[] {
  const annotations = meta.annotations ?? {}
  const at = path.child('metadata').child('annotations')
  const isUnprofiled = spec.securityContext?.seccompProfile === undefined && POD_SECCOMP_ANNOTATION in annotations
  return [
    ...Object.entries(DEPRECATED_ANNOTATIONS).flatMap(([key, why]) =>
      key in annotations ? [warningAt(at.key(key), why)] : [],
    ),
    ...(isUnprofiled
      ? [warningAt(at.key(POD_SECCOMP_ANNOTATION), 'non-functional in v1.27+; use the "seccompProfile" field instead')]
      : []),
  ]
}

function warnOfRepeated({ hostAliases = [], imagePullSecrets = [] }: PodSpec, at: FieldPath): readonly string[] {
  const addresses = hostAliases.map(({ ip }) => ip)
  const names = imagePullSecrets.map(({ name = '' }) => name)
  const secrets = at.child('imagePullSecrets')
  return [
    ...findRepeated(addresses).map((index) =>
      warningAt(at.child('hostAliases').index(index).child('ip'), `duplicate ip ${JSON.stringify(addresses[index])}`),
    ),
    ...findRepeated(names).map((index) =>
      warningAt(secrets.index(index).child('name'), `duplicate name ${JSON.stringify(names[index])}`),
    ),
    ...names.flatMap((name, index) =>
      name === '' ? [warningAt(secrets.index(index).child('name'), 'invalid empty name ""')] : [],
    ),
  ]
}

/** Where a value is that was there before. */
function findRepeated(values: readonly string[]): readonly number[] {
  return values.flatMap((value, index) => (values.indexOf(value) < index ? [index] : []))
}

function warnOfPodAffinity({ affinity = {} }: PodSpec, at: FieldPath): readonly string[] {
  return (['podAffinity', 'podAntiAffinity'] as const).flatMap((name) => {
    const required = affinity[name]?.requiredDuringSchedulingIgnoredDuringExecution ?? []
    const preferred = affinity[name]?.preferredDuringSchedulingIgnoredDuringExecution ?? []
    const requiredAt = at.child(name).child('requiredDuringSchedulingIgnoredDuringExecution')
    const preferredAt = at.child(name).child('preferredDuringSchedulingIgnoredDuringExecution')
    return [
      ...required.map(({ labelSelector }, index) => ({ labelSelector, path: requiredAt.index(index) })),
      ...preferred.map(({ podAffinityTerm: { labelSelector } }, index) => ({
        labelSelector,
        path: preferredAt.index(index).child('podAffinityTerm'),
      })),
    ].flatMap(({ labelSelector, path }) =>
      labelSelector === undefined ? [warningAt(path.child('labelSelector'), NO_MATCH)] : [],
    )
  })
}
