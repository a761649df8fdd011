import type { ObjectMeta, PodSpec } from '../../generated/core-v1.ts'
import { CONFIG_MIRROR_ANNOTATION } from '../../pod/pod.ts'
import type { FieldPath } from '../field-path.ts'
import { descendingPath, dnsLabel, dnsSubdomain, labelValue, qualifiedName } from './name-rules.ts'
import type { ProblemList } from './problem-list.ts'

const MAX_ANNOTATION_BYTES = 256 * 1024
const SECCOMP_POD = 'seccomp.security.alpha.kubernetes.io/pod'
const SECCOMP_CONTAINER = 'container.seccomp.security.alpha.kubernetes.io/'
const APPARMOR_CONTAINER = 'container.apparmor.security.beta.kubernetes.io/'
const DELETION_COST = 'controller.kubernetes.io/pod-deletion-cost'

/** Name, namespace, labels and annotations of a pod. */
export function validateMetadata(meta: ObjectMeta, spec: PodSpec, path: FieldPath, problems: ProblemList): void {
  if (!meta.name) problems.required(path.child('name'), 'a pod needs a name')
  else problems.matches(path.child('name'), meta.name, dnsSubdomain)
  if (!meta.namespace) problems.required(path.child('namespace'))
  else problems.matches(path.child('namespace'), meta.namespace, dnsLabel)
  if (meta.generateName)
    problems.matches(path.child('generateName'), meta.generateName.replace(/-+$/, ''), dnsSubdomain)
  problemsOfCounts(meta, path, problems)
  validateLabels(meta.labels ?? {}, path.child('labels'), problems)
  validateAnnotations(meta.annotations ?? {}, path.child('annotations'), problems)
  validatePodAnnotations(meta.annotations ?? {}, spec, path.child('annotations'), problems)
  for (const [index, finalizer] of (meta.finalizers ?? []).entries()) {
    problems.matches(path.child('finalizers').index(index), finalizer, qualifiedName)
  }
  for (const [index, owner] of (meta.ownerReferences ?? []).entries()) {
    for (const field of ['apiVersion', 'kind', 'name', 'uid'] as const) {
      if (!owner[field]) problems.required(path.child('ownerReferences').index(index).child(field))
    }
  }
}

function problemsOfCounts(meta: ObjectMeta, path: FieldPath, problems: ProblemList): void {
  problems.notNegative(path.child('generation'), meta.generation)
  problems.notNegative(path.child('deletionGracePeriodSeconds'), meta.deletionGracePeriodSeconds)
}

/** Keys and values of labels, also where labels are asked for. */
export function validateLabels(labels: Readonly<Record<string, string>>, path: FieldPath, problems: ProblemList): void {
  for (const [key, value] of Object.entries(labels)) {
    problems.matches(path, key, qualifiedName)
    problems.matches(path.key(key), value, labelValue)
  }
}

/** Keys of annotations and the size of all together. */
export function validateAnnotations(
  annotations: Readonly<Record<string, string>>,
  path: FieldPath,
  problems: ProblemList,
): void {
  let bytes = 0
  for (const [key, value] of Object.entries(annotations)) {
    if (qualifiedName(key.toLowerCase()) !== undefined) problems.matches(path, key, qualifiedName)
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value)
  }
  if (bytes > MAX_ANNOTATION_BYTES) problems.tooLong(path, MAX_ANNOTATION_BYTES)
}

function validatePodAnnotations(
  annotations: Readonly<Record<string, string>>,
  spec: PodSpec,
  path: FieldPath,
  problems: ProblemList,
): void {
  const names = new Set([...spec.containers, ...(spec.initContainers ?? [])].map(({ name }) => name))
  const cost = annotations[DELETION_COST]
  if (cost !== undefined && !/^(?:0|-?[1-9]\d{0,9})$/.test(cost)) {
    problems.invalid(path.key(DELETION_COST), cost, 'must be a whole number of 32 bits')
  }
  const mirror = annotations[CONFIG_MIRROR_ANNOTATION]
  if (mirror !== undefined && !spec.nodeName) {
    problems.invalid(
      path.key(CONFIG_MIRROR_ANNOTATION),
      mirror,
      'needs spec.nodeName, since a mirror belongs to a node',
    )
  }
  for (const [key, value] of Object.entries(annotations)) {
    if (key === SECCOMP_POD || key.startsWith(SECCOMP_CONTAINER)) validateSeccomp(value, path.key(key), problems)
    if (!key.startsWith(APPARMOR_CONTAINER)) continue
    const container = key.slice(APPARMOR_CONTAINER.length)
    if (!names.has(container)) problems.invalid(path.key(key), container, 'must name a container of the pod')
    if (!/^(?:|runtime\/default|unconfined|localhost\/[\s\S]*)$/.test(value)) {
      problems.invalid(path.key(key), value, 'must be runtime/default, unconfined or localhost/<profile>')
    }
  }
}

function validateSeccomp(value: string, path: FieldPath, problems: ProblemList): void {
  if (['runtime/default', 'docker/default', 'unconfined'].includes(value)) return
  if (value.startsWith('localhost/')) problems.matches(path, value.slice('localhost/'.length), descendingPath)
  else problems.invalid(path, value, 'must be runtime/default, unconfined or localhost/<profile>')
}
