import type { Service, ServiceSpec } from '../../../../model/generated/core-v1.ts'
import type { FieldPath } from '../../../../model/schema/field-path.ts'
import { ProblemList } from '../../../../model/schema/validation/problem-list.ts'
import { invalid } from '../../../api-error.ts'
import type { ObjectOf } from '../../../store/api-object.ts'

export type StoredService = ObjectOf<Service>

export const HEADLESS = 'None'

export function serviceSpecOf({ spec }: Service): ServiceSpec {
  return spec ?? {}
}

export function hasNodePorts(type: string | undefined): boolean {
  return type === 'NodePort' || type === 'LoadBalancer'
}

/** Whether others than pods and the node reach it. */
export function isReachedFromOutside({ type, externalIPs = [] }: ServiceSpec): boolean {
  return hasNodePorts(type) || (type === 'ClusterIP' && externalIPs.length > 0)
}

/** Fails a request for what cannot be given. */
export function rejectService({ metadata }: StoredService, path: FieldPath, value: unknown, why: string): never {
  const problems = new ProblemList()
  problems.invalid(path, value, why)
  throw invalid({ group: '', kind: 'Service', name: metadata.name ?? '' }, problems.violations)
}
