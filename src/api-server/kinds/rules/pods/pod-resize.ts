import { computeQosClass } from '../../../../model/resources/compute-qos-class.ts'
import type { Container, LimitRange, Pod, ResourceRequirements } from '../../../../model/generated/core-v1.ts'
import { isSidecar } from '../../../../model/pod/pod-containers.ts'
import { CONFIG_MIRROR_ANNOTATION } from '../../../../model/pod/pod.ts'
import { FieldPath } from '../../../../model/schema/field-path.ts'
import { ProblemList } from '../../../../model/schema/validation/problem-list.ts'
import type { ObjectOf } from '../../../store/api-object.ts'
import type { RequestContext, Subresource } from '../../resource.ts'
import { sameValue } from '../../../../base/document/same-value.ts'
import { fillFromLimitRanges, findPodFaults, refuseByLimitRanges } from '../../../quota/apply-limit-ranges.ts'
import { specOf, validateExistingPod } from './pod-rules.ts'

const SPEC = FieldPath.root.child('spec')
const LISTS = ['containers', 'initContainers'] as const
const RESIZABLE = ['cpu', 'memory']

type StoredPod = ObjectOf<Pod>
type Amounts = Readonly<Record<string, string>>

/** Changes of cpu and memory of a pod that runs; nothing else of what is sent counts. */
export const resize: Subresource<StoredPod> = {
  name: 'resize',
  verbs: ['get', 'patch', 'update'],
  merge: (object, before, context) => {
    const old = specOf(before)
    // As of a new pod; but nothing that is not resources stays, so no annotation says what was given.
    const { spec } = fillFromLimitRanges(specOf(object), rangesFor(before, context))
    const { resources: _, ...rest } = old
    return {
      ...before,
      metadata: { ...before.metadata, resourceVersion: object.metadata.resourceVersion },
      spec: {
        ...rest,
        ...(spec.resources && { resources: spec.resources }),
        containers: withResources(old.containers, spec.containers),
        ...(old.initContainers && { initContainers: withResources(old.initContainers, spec.initContainers ?? []) }),
      },
    }
  },
  admit: (object, before, context) => {
    const faults = rangesFor(before, context).flatMap((range) => findPodFaults(specOf(object), range))
    refuseByLimitRanges({ resource: 'pods', name: object.metadata.name ?? '' }, faults)
  },
  validate: (object, before) => {
    const mirrored = before.metadata.annotations?.[CONFIG_MIRROR_ANNOTATION] !== undefined
    const problems = new ProblemList()
    if (mirrored) {
      problems.forbidden(FieldPath.root, 'static pods cannot be resized')
      return problems.violations
    }
    validatePodAsWhole(object, before, problems)
    for (const list of LISTS) validateContainers(object, before, { list, problems })
    return [...problems.violations, ...validateExistingPod(object)]
  },
}

/** The limit ranges that a pod has to keep to; one that is being deleted has none to. */
function rangesFor({ metadata }: StoredPod, { objects }: RequestContext): readonly ObjectOf<LimitRange>[] {
  return metadata.deletionTimestamp === undefined ? objects.list('limitranges', metadata.namespace) : []
}

function validatePodAsWhole(object: StoredPod, before: StoredPod, problems: ProblemList): void {
  const wanted = computeQosClass({ spec: specOf(object) })
  if (wanted !== computeQosClass({ spec: specOf(before), status: before.status })) {
    problems.invalid(SPEC, wanted, 'Pod QOS Class may not change as a result of resizing')
  }
  // Older nodes do not report resources, and would not change them.
  const running = before.status?.containerStatuses?.find(({ state }) => state?.running)
  if (running !== undefined && running.resources === undefined) {
    problems.forbidden(SPEC, 'Pod running on node without support for resize')
  }
  const [now, old] = [specOf(object).resources, specOf(before).resources]
  const path = SPEC.child('resources')
  if (old !== undefined && now === undefined) problems.forbidden(path, 'pod-level resources cannot be removed')
  if (now === undefined) return
  validateKept(now, old, { path, what: 'pod-level resource', problems })
  if (!sameValue(otherThanResizable(now), otherThanResizable(old))) {
    problems.forbidden(SPEC, 'only cpu and memory resources are mutable at pod-level')
  }
}

interface ListContext {
  readonly list: (typeof LISTS)[number]
  readonly problems: ProblemList
}

function validateContainers(object: StoredPod, before: StoredPod, { list, problems }: ListContext): void {
  const [now, old] = [specOf(object)[list] ?? [], specOf(before)[list] ?? []]
  const at = SPEC.child(list)
  if (now.length !== old.length) return problems.forbidden(at, `${list} may not be added or removed on resize`)
  for (const [index, container] of now.entries()) {
    const known = old[index]
    if (known === undefined || container.name !== known.name) {
      problems.forbidden(at.index(index).child('name'), `${list} may not be renamed or reordered on resize`)
      continue
    }
    const path = at.index(index).child('resources')
    validateKept(container.resources, known.resources, { path, what: 'resource', problems })
    if (!sameValue(withoutResizable(container), withoutResizable(known))) {
      problems.forbidden(at.index(index), 'only cpu and memory resources are mutable')
    }
    if (list === 'initContainers' && startsAgain(container, known)) {
      const why = 'non-sidecar init containers with a resize policy of RestartContainer cannot be resized'
      problems.forbidden(at.index(index), why)
    }
  }
}

/** What a pod has of something can become more or less, and never nothing. */
function validateKept(
  now: ResourceRequirements | undefined,
  old: ResourceRequirements | undefined,
  { path, what, problems }: { readonly path: FieldPath; readonly what: string; readonly problems: ProblemList },
): void {
  for (const side of ['requests', 'limits'] as const) {
    const isGone = Object.keys(old?.[side] ?? {}).some((name) => now?.[side]?.[name] === undefined)
    if (isGone) problems.forbidden(path.child(side), `${what} ${side} cannot be removed`)
  }
}

function startsAgain(container: Container, known: Container): boolean {
  if (isSidecar(container) || sameValue(container.resources, known.resources)) return false
  return (container.resizePolicy ?? []).some(({ restartPolicy }) => restartPolicy === 'RestartContainer')
}

/** Where containers were added, removed or moved there is nothing to merge; validation rejects that afterwards. */
function withResources(before: readonly Container[], after: readonly Container[]): readonly Container[] {
  if (before.length !== after.length || before.some(({ name }, index) => after[index]?.name !== name)) return after
  return before.map((old, index) => {
    const { resources: _, resizePolicy: __, ...rest } = old
    const { resources, resizePolicy } = after[index] ?? old
    return { ...rest, ...(resources && { resources }), ...(resizePolicy && { resizePolicy }) }
  })
}

function withoutResizable({ resources, ...rest }: Container): unknown {
  return { ...rest, resources: otherThanResizable(resources) }
}

function otherThanResizable(resources: ResourceRequirements | undefined): unknown {
  const others = (amounts: Amounts = {}) =>
    Object.fromEntries(Object.entries(amounts).filter(([name]) => !RESIZABLE.includes(name)))
  return { limits: others(resources?.limits), requests: others(resources?.requests), claims: resources?.claims }
}
