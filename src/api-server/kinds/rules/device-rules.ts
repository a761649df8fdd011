import type {
  DeviceSubRequest,
  ExactDeviceRequest,
  ResourceClaimSpec,
  ResourceClaimTemplate,
  ResourceResourceClaim,
  ResourceSlice,
} from '../../../model/generated/api-groups.ts'
import { FieldPath } from '../../../model/schema/field-path.ts'
import { ProblemList } from '../../../model/schema/validation/problem-list.ts'
import type { ObjectOf } from '../../store/api-object.ts'
import type { ResourceRules, SelectableFields } from '../resource.ts'
import { validateClaimSpec } from './device-claim.ts'
import { immutablePart, immutableSpecFields } from './immutable-fields.ts'

type Slice = ObjectOf<ResourceSlice>

const EXACT_COUNT = 'ExactCount'
const SPEC = FieldPath.root.child('spec')

export const resourceClaimRules: ResourceRules<ObjectOf<ResourceResourceClaim>> = {
  fillDefaults: (claim) => ({ ...claim, spec: fillClaimSpec(claim.spec) }),
  validate: ({ spec }) => {
    const problems = new ProblemList()
    validateClaimSpec(spec, SPEC, problems)
    return problems.violations
  },
  validateUpdate: immutablePart('spec'),
}

export const resourceClaimTemplateRules: ResourceRules<ObjectOf<ResourceClaimTemplate>> = {
  fillDefaults: (template) => ({
    ...template,
    spec: { ...template.spec, spec: fillClaimSpec(template.spec.spec) },
  }),
  validate: ({ spec }) => {
    const problems = new ProblemList()
    validateClaimSpec(spec.spec, SPEC.child('spec'), problems)
    return problems.violations
  },
  validateUpdate: immutablePart('spec'),
}

export const resourceSliceRules: ResourceRules<Slice> = {
  validate: ({ spec }) => {
    const problems = new ProblemList()
    const { nodeName, nodeSelector, allNodes, perDeviceNodeSelection, pool } = spec
    const places = [nodeName, nodeSelector, allNodes, perDeviceNodeSelection].filter(Boolean)
    if (places.length !== 1)
      problems.invalid(SPEC, nodeName, 'has one of nodeName, nodeSelector, allNodes and perDeviceNodeSelection')
    if (!pool.name) problems.required(SPEC.child('pool').child('name'))
    return problems.violations
  },
  validateUpdate: (slice, before) => {
    const problems = new ProblemList()
    const { name } = slice.spec.pool
    if (name !== before.spec.pool.name) {
      problems.invalid(SPEC.child('pool').child('name'), name, 'field is immutable')
    }
    return [...immutableSpecFields(['driver', 'nodeName'])(slice, before), ...problems.violations]
  },
}

/** The fields by which a node finds its own. */
export const resourceSliceFields: SelectableFields<Slice> = {
  'spec.nodeName': ({ spec }) => spec.nodeName,
  'spec.driver': ({ spec }) => spec.driver,
}

/** A request that does not say how many devices it is for is for one. */
function fillClaimSpec(spec: ResourceClaimSpec): ResourceClaimSpec {
  const { devices } = spec
  if (devices?.requests === undefined) return spec
  const requests = devices.requests.map((request) => ({
    ...request,
    ...(request.exactly && { exactly: fillRequest(request.exactly) }),
    ...(request.firstAvailable && { firstAvailable: request.firstAvailable.map(fillRequest) }),
  }))
  return { ...spec, devices: { ...devices, requests } }
}

function fillRequest<T extends ExactDeviceRequest | DeviceSubRequest>(request: T): T {
  const allocationMode = request.allocationMode || EXACT_COUNT
  const count = request.count || 1
  return { ...request, allocationMode, ...(allocationMode === EXACT_COUNT && { count }) }
}
