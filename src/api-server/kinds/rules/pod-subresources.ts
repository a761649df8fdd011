import { computeQosClass } from '../../../model/compute-qos-class.ts'
import type { Container, PodSpec, ResourceRequirements } from '../../../model/generated/core-v1.ts'
import type { Pod } from '../../../model/pod.ts'
import { FieldPath } from '../../../schema/field-path.ts'
import { ProblemList } from '../../../schema/validation/problem-list.ts'
import type { ApiObject } from '../../store/api-object.ts'
import type { Subresource } from '../resource.ts'
import { sameValue } from '../same-value.ts'
import { validateExistingPod } from './pod-rules.ts'

const SPEC = FieldPath.root.child('spec')
const RESIZABLE = ['cpu', 'memory']

/** Changes of cpu and memory of a pod that runs; nothing else of what is sent counts. */
export const resize: Subresource = {
  name: 'resize',
  verbs: ['get', 'patch', 'update'],
  merge: (object, before) => {
    const [spec, old] = [specOf(object), specOf(before)]
    return {
      ...before,
      metadata: { ...before.metadata, resourceVersion: object.metadata.resourceVersion },
      spec: {
        ...old,
        ...(spec.resources && { resources: spec.resources }),
        containers: withResources(old.containers, spec.containers),
        ...(old.initContainers && { initContainers: withResources(old.initContainers, spec.initContainers ?? []) }),
      },
    }
  },
  validate: (object, before) => {
    const problems = new ProblemList()
    const qos = (each: ApiObject) => computeQosClass({ ...each, status: undefined } as unknown as Pod)
    if (qos(object) !== qos(before)) problems.invalid(SPEC, qos(object), 'the QoS class must stay as it is')
    for (const [index, container] of specOf(object).containers.entries()) {
      const old = specOf(before).containers[index]?.resources
      if (sameValue(otherThanResizable(container.resources), otherThanResizable(old))) continue
      problems.forbidden(SPEC.child('containers').index(index).child('resources'), 'only cpu and memory may change')
    }
    return [...problems.violations, ...validateExistingPod(object)]
  },
}

/** Containers for debugging: they can be added, and never changed or taken away. */
export const ephemeralContainers: Subresource = {
  name: 'ephemeralcontainers',
  verbs: ['get', 'patch', 'update'],
  merge: (object, before) => ({
    ...before,
    metadata: { ...before.metadata, resourceVersion: object.metadata.resourceVersion },
    spec: { ...specOf(before), ephemeralContainers: specOf(object).ephemeralContainers },
  }),
  validate: (object, before) => {
    const problems = new ProblemList()
    const now = specOf(object).ephemeralContainers ?? []
    for (const old of specOf(before).ephemeralContainers ?? []) {
      const same = now.find(({ name }) => name === old.name)
      const path = SPEC.child('ephemeralContainers')
      if (same === undefined) problems.forbidden(path, `"${old.name}" cannot be removed`)
      else if (!sameValue(same, old)) {
        problems.forbidden(path, `"${old.name}" cannot be changed`)
      }
    }
    return [...problems.violations, ...validateExistingPod(object)]
  },
}

/** A scheduler's word on where a pod runs. */
export const binding: Subresource = {
  name: 'binding',
  verbs: ['create'],
  kind: { group: '', version: 'v1', kind: 'Binding', typeName: 'Binding' },
}

/** A polite way to delete a pod, which a disruption budget could refuse; there are none here. */
export const eviction: Subresource = {
  name: 'eviction',
  verbs: ['create'],
  kind: { group: 'policy', version: 'v1', kind: 'Eviction', typeName: 'Eviction' },
}

function specOf(object: ApiObject): PodSpec {
  return object['spec'] as PodSpec
}

function withResources(before: readonly Container[], after: readonly Container[]): readonly Container[] {
  return before.map((old) => {
    const same = after.find(({ name }) => name === old.name)
    if (same === undefined) return old
    return { ...old, resources: same.resources, resizePolicy: same.resizePolicy ?? old.resizePolicy }
  })
}

function otherThanResizable(resources: ResourceRequirements | undefined): unknown {
  const others = (amounts: Readonly<Record<string, string>> = {}) =>
    Object.fromEntries(Object.entries(amounts).filter(([name]) => !RESIZABLE.includes(name)))
  return { limits: others(resources?.limits), requests: others(resources?.requests), claims: resources?.claims }
}
