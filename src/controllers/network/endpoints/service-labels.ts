import type { Service } from '../../../model/generated/core-v1.ts'

/** Names that slices and their readers agree on. */
export const SERVICE_NAME_LABEL = 'kubernetes.io/service-name'
export const MANAGED_BY_LABEL = 'endpointslice.kubernetes.io/managed-by'
export const HEADLESS_LABEL = 'service.kubernetes.io/headless'
export const SKIP_MIRROR_LABEL = 'endpointslice.kubernetes.io/skip-mirror'
export const ENDPOINTS_MANAGED_BY_LABEL = 'endpoints.kubernetes.io/managed-by'

export const SLICE_CONTROLLER = 'endpointslice-controller.k8s.io'
export const MIRROR_CONTROLLER = 'endpointslicemirroring-controller.k8s.io'
export const ENDPOINTS_CONTROLLER = 'endpoint-controller'

const RESERVED: readonly string[] = [SERVICE_NAME_LABEL, MANAGED_BY_LABEL, HEADLESS_LABEL, ENDPOINTS_MANAGED_BY_LABEL]

/** Labels of a user without those that say what the controllers mean. */
export function withoutReserved(labels: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(labels).filter(([name]) => !RESERVED.includes(name)))
}

export function isHeadless({ spec }: Pick<Service, 'spec'>): boolean {
  return spec?.clusterIP === 'None'
}

/** Whether pods are found by labels; an empty selector finds all. */
export function hasSelector({ spec }: Pick<Service, 'spec'>): boolean {
  return spec?.selector !== undefined && spec.type !== 'ExternalName'
}
