import type { Container, PodSpec } from '../../../../model/generated/core-v1.ts'
import { FieldPath } from '../../../../model/schema/field-path.ts'
import { ProblemList } from '../../../../model/schema/validation/problem-list.ts'
import type { Violation } from '../../../../model/schema/validation/problem-list.ts'
import { sameValue } from '../../../../base/document/same-value.ts'

const SPEC = FieldPath.root.child('spec')
const CHANGEABLE =
  'only these fields of a pod may change: spec.containers[*].image, spec.initContainers[*].image, spec.activeDeadlineSeconds, spec.tolerations (additions only), spec.schedulingGates (removal only)'

/** Which fields of a pod's spec may differ from before. */
export function validatePodUpdate(spec: PodSpec, before: PodSpec): readonly Violation[] {
  const problems = new ProblemList()
  validateDeadline(spec, before, problems)
  validateTolerations(spec, before, problems)
  validateGates(spec, before, problems)
  if (!sameValue(withoutChangeable(spec, before), before)) problems.forbidden(SPEC, CHANGEABLE)
  return problems.violations
}

/** The spec with everything put back that may change. */
function withoutChangeable(spec: PodSpec, before: PodSpec): PodSpec {
  const wasGated = (before.schedulingGates?.length ?? 0) > 0
  return {
    ...spec,
    containers: withImages(spec.containers, before.containers),
    ...(spec.initContainers && { initContainers: withImages(spec.initContainers, before.initContainers ?? []) }),
    activeDeadlineSeconds: before.activeDeadlineSeconds,
    tolerations: before.tolerations,
    schedulingGates: before.schedulingGates,
    // The end of the gates binds the pod, and until then its node may still be narrowed down.
    ...(wasGated && { nodeName: before.nodeName }),
    ...(wasGated && addsOnly(spec.nodeSelector, before.nodeSelector) && { nodeSelector: before.nodeSelector }),
    ...((before.terminationGracePeriodSeconds ?? 0) < 0 &&
      spec.terminationGracePeriodSeconds === 1 && {
        terminationGracePeriodSeconds: before.terminationGracePeriodSeconds,
      }),
  }
}

function withImages(containers: readonly Container[], before: readonly Container[]): readonly Container[] {
  return containers.map((container, index) => {
    const image = before[index]?.image
    return image === undefined || !container.image ? container : { ...container, image }
  })
}

function addsOnly(
  after: Readonly<Record<string, string>> = {},
  before: Readonly<Record<string, string>> = {},
): boolean {
  return Object.entries(before).every(([key, value]) => after[key] === value)
}

function validateDeadline(spec: PodSpec, before: PodSpec, problems: ProblemList): void {
  const old = before.activeDeadlineSeconds
  if (old === undefined) return
  const path = SPEC.child('activeDeadlineSeconds')
  if (spec.activeDeadlineSeconds === undefined) problems.forbidden(path, 'once set it cannot be taken away')
  else if (spec.activeDeadlineSeconds > old) {
    problems.invalid(path, spec.activeDeadlineSeconds, 'may only become smaller')
  }
}

function validateTolerations(spec: PodSpec, before: PodSpec, problems: ProblemList): void {
  const kept = (before.tolerations ?? []).every((old) =>
    spec.tolerations?.some((each) =>
      sameValue({ ...each, tolerationSeconds: undefined }, { ...old, tolerationSeconds: undefined }),
    ),
  )
  if (!kept)
    problems.forbidden(
      SPEC.child('tolerations'),
      'tolerations can be added; of those that are there only tolerationSeconds may change',
    )
}

function validateGates(spec: PodSpec, before: PodSpec, problems: ProblemList): void {
  const old = new Set((before.schedulingGates ?? []).map(({ name }) => name))
  const added = (spec.schedulingGates ?? []).filter(({ name }) => !old.has(name))
  if (added.length > 0) problems.forbidden(SPEC.child('schedulingGates'), 'gates can be removed, not added')
}
