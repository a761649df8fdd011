import { FieldPath } from '../../../model/schema/field-path.ts'
import { ProblemList } from '../../../model/schema/validation/problem-list.ts'
import type { ApiObject } from '../../store/api-object.ts'
import type { ResourceRules } from '../resource.ts'
import { immutableFields } from './immutable-fields.ts'

interface Request {
  readonly allocationMode?: string
  readonly count?: number
}

interface ClaimSpec {
  readonly devices?: {
    readonly requests?: readonly {
      readonly exactly?: Request
      readonly firstAvailable?: readonly Request[]
    }[]
  }
}

interface SliceSpec {
  readonly nodeName?: string
  readonly nodeSelector?: object
  readonly allNodes?: boolean
  readonly perDeviceNodeSelection?: boolean
  readonly pool?: { readonly name?: string }
}

const EXACT_COUNT = 'ExactCount'
const SPEC = FieldPath.root.child('spec')

export const resourceClaimRules: ResourceRules = {
  fillDefaults: (object) => ({ ...object, spec: fillClaimSpec(object['spec'] as ClaimSpec | undefined) }),
  validateUpdate: immutableFields('spec'),
}

export const resourceClaimTemplateRules: ResourceRules = {
  fillDefaults: (object) => {
    const template = (object['spec'] ?? {}) as { readonly spec?: ClaimSpec }
    return { ...object, spec: { ...template, spec: fillClaimSpec(template.spec) } }
  },
  validateUpdate: immutableFields('spec'),
}

export const resourceSliceRules: ResourceRules = {
  validate: (object) => {
    const problems = new ProblemList()
    const { nodeName, nodeSelector, allNodes, perDeviceNodeSelection, pool } = sliceSpec(object)
    const places = [nodeName, nodeSelector, allNodes, perDeviceNodeSelection].filter(Boolean)
    if (places.length !== 1)
      problems.invalid(SPEC, nodeName, 'has one of nodeName, nodeSelector, allNodes and perDeviceNodeSelection')
    if (!pool?.name) problems.required(SPEC.child('pool').child('name'))
    return problems.violations
  },
  validateUpdate: (object, before) => {
    const problems = new ProblemList()
    const [name, old] = [object, before].map((each) => sliceSpec(each).pool?.name)
    if (name !== old) problems.invalid(SPEC.child('pool').child('name'), name, 'field is immutable')
    return [...immutableFields('spec', ['driver', 'nodeName'])(object, before), ...problems.violations]
  },
}

/** The fields by which a node finds its own. */
export function resourceSliceFields(object: ApiObject): Readonly<Record<string, string>> {
  const { nodeName = '', driver = '' } = sliceSpec(object) as SliceSpec & { readonly driver?: string }
  return { 'spec.nodeName': nodeName, 'spec.driver': driver }
}

function sliceSpec(object: ApiObject): SliceSpec {
  return object['spec'] ?? {}
}

/** A request that does not say how many devices it is for is for one. */
function fillClaimSpec(spec: ClaimSpec = {}): ClaimSpec {
  const { devices } = spec
  if (devices?.requests === undefined) return spec
  const requests = devices.requests.map((request) => ({
    ...request,
    ...(request.exactly && { exactly: fillRequest(request.exactly) }),
    ...(request.firstAvailable && { firstAvailable: request.firstAvailable.map(fillRequest) }),
  }))
  return { ...spec, devices: { ...devices, requests } }
}

function fillRequest(request: Request): Request {
  const allocationMode = request.allocationMode || EXACT_COUNT
  const count = request.count || 1
  return { ...request, allocationMode, ...(allocationMode === EXACT_COUNT && { count }) }
}
