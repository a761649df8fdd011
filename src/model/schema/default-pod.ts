import type { Int64, ObjectMeta, PodSpec, PodStatus, ResourceRequirements } from '../generated/core-v1.ts'
import { formatQuantity } from '../resources/quantity.ts'
import { aggregateResources } from './aggregate-resources.ts'
import { defaultContainer } from './default-container.ts'
import type { PodDefaults } from './default-container.ts'
import { defaultVolume } from './default-volume.ts'
import { isHugePages, isPodLevelResource, mayOvercommit } from './resource-name.ts'

/** A pod as a manifest or an API request has it: decoded, but with no identity yet. */
export interface ManifestPod {
  readonly metadata: ObjectMeta
  readonly spec: PodSpec
  readonly status?: PodStatus | undefined
}

/** Fills everything that the API server fills when a pod is created. */
export function defaultPod(pod: ManifestPod): ManifestPod {
  const { spec } = pod
  const filled: PodSpec = {
    ...defaultSpec(spec, { isHostNetwork: spec.hostNetwork === true, requestsLimits: true }),
    enableServiceLinks: spec.enableServiceLinks ?? true,
  }
  const resources = filled.resources && defaultPodResources(filled, filled.resources)
  return { ...pod, spec: resources === undefined ? filled : { ...filled, resources } }
}

/** Fills what the API server fills in a template of pods. The rest follows when a pod is made of it: limits that change later would not fit to it. */
export function defaultTemplate(spec: PodSpec): PodSpec {
  return defaultSpec(spec, { isHostNetwork: false, requestsLimits: false })
}

function defaultSpec(spec: PodSpec, defaults: PodDefaults): PodSpec {
  const account = spec.serviceAccountName || spec.serviceAccount
  return {
    ...spec,
    containers: spec.containers.map((container) => defaultContainer(container, defaults)),
    ...(spec.initContainers && {
      initContainers: spec.initContainers.map((container) => defaultContainer(container, defaults)),
    }),
    ...(spec.ephemeralContainers && {
      ephemeralContainers: spec.ephemeralContainers.map((container) =>
        defaultContainer(container, { ...defaults, isHostNetwork: false }),
      ),
    }),
    ...(spec.volumes && { volumes: spec.volumes.map(defaultVolume) }),
    ...(account && { serviceAccountName: account, serviceAccount: account }),
    dnsPolicy: spec.dnsPolicy || 'ClusterFirst',
    restartPolicy: spec.restartPolicy || 'Always',
    securityContext: spec.securityContext ?? {},
    terminationGracePeriodSeconds: defaultGracePeriod(spec.terminationGracePeriodSeconds),
    schedulerName: spec.schedulerName || 'default-scheduler',
  }
}

/** A negative period was once legal and means "at once", which is one second. */
function defaultGracePeriod(seconds: Int64 = 30): Int64 {
  return seconds < 0 ? 1 : seconds
}

/** Pod-level amounts that follow from those of the containers, or the request from the limit. */
function defaultPodResources(spec: PodSpec, own: ResourceRequirements): ResourceRequirements {
  const limits: Record<string, string> = { ...own.limits }
  if (Object.keys(limits).length > 0 || Object.keys(own.requests ?? {}).length > 0) {
    for (const [name, quantity] of aggregateResources(spec, 'limits')) {
      if (isHugePages(name) && own.requests?.[name] === undefined) limits[name] ??= formatQuantity(quantity)
    }
  }
  if (Object.keys(limits).length === 0) return own
  const requests: Record<string, string> = { ...own.requests }
  for (const [name, quantity] of aggregateResources(spec, 'requests')) {
    if (isPodLevelResource(name) && mayOvercommit(name)) requests[name] ??= formatQuantity(quantity)
  }
  for (const [name, limit] of Object.entries(limits)) {
    if (isPodLevelResource(name)) requests[name] ??= limit
  }
  return { ...own, limits, requests }
}
