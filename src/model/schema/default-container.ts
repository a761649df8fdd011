import type {
  Container,
  ContainerPort,
  EnvVar,
  HTTPGetAction,
  Lifecycle,
  LifecycleHandler,
  ObjectFieldSelector,
  Probe,
  ResourceRequirements,
} from '../generated/core-v1.ts'

/** Which defaults a container gets that only those of a pod get, not those of a template. */
export interface PodDefaults {
  /** On the host's network ports get their host port. */
  readonly isHostNetwork: boolean
  /** A request that is absent is the limit. */
  readonly requestsLimits: boolean
}

/** Fills what the API fills in a container of any list. */
export function defaultContainer<T extends Container>(container: T, { isHostNetwork, requestsLimits }: PodDefaults): T {
  return {
    ...container,
    imagePullPolicy: container.imagePullPolicy || defaultPullPolicy(container.image ?? ''),
    terminationMessagePath: container.terminationMessagePath || '/dev/termination-log',
    terminationMessagePolicy: container.terminationMessagePolicy || 'File',
    resources: requestsLimits ? defaultRequests(container.resources ?? {}) : (container.resources ?? {}),
    ...(container.ports && { ports: container.ports.map((port) => defaultPort(port, isHostNetwork)) }),
    ...(container.env && { env: container.env.map(defaultEnv) }),
    ...(container.livenessProbe && { livenessProbe: defaultProbe(container.livenessProbe) }),
    ...(container.readinessProbe && { readinessProbe: defaultProbe(container.readinessProbe) }),
    ...(container.startupProbe && { startupProbe: defaultProbe(container.startupProbe) }),
    ...(container.lifecycle && { lifecycle: defaultLifecycle(container.lifecycle) }),
  }
}

// registry:port/path/name:tag@digest, as far as it decides about the tag.
const IMAGE = /^(?:[\w.-]+(?::\d+)?\/)?[a-z0-9._/-]+(?::(?<tag>[\w.-]+))?(?:@(?<digest>[\w+.:-]+))?$/

/** Always for what may change under its name: the tag "latest", said or meant. */
export function defaultPullPolicy(image: string): string {
  const groups = IMAGE.exec(image)?.groups
  if (groups === undefined) return 'IfNotPresent'
  const tag = groups['tag'] ?? (groups['digest'] === undefined ? 'latest' : '')
  return tag === 'latest' ? 'Always' : 'IfNotPresent'
}

/** A field selector without a version means v1. */
export function defaultFieldRef(selector: ObjectFieldSelector): ObjectFieldSelector {
  return { ...selector, apiVersion: selector.apiVersion || 'v1' }
}

function defaultRequests(resources: ResourceRequirements): ResourceRequirements {
  if (resources.limits === undefined) return resources
  return { ...resources, requests: { ...resources.limits, ...resources.requests } }
}

function defaultPort(port: ContainerPort, isHostNetwork: boolean): ContainerPort {
  return isHostNetwork && !port.hostPort ? { ...port, hostPort: port.containerPort } : port
}

function defaultEnv(variable: EnvVar): EnvVar {
  const fieldRef = variable.valueFrom?.fieldRef
  return fieldRef === undefined
    ? variable
    : { ...variable, valueFrom: { ...variable.valueFrom, fieldRef: defaultFieldRef(fieldRef) } }
}

function defaultProbe(probe: Probe): Probe {
  return {
    ...probe,
    timeoutSeconds: probe.timeoutSeconds || 1,
    periodSeconds: probe.periodSeconds || 10,
    successThreshold: probe.successThreshold || 1,
    failureThreshold: probe.failureThreshold || 3,
    ...(probe.httpGet && { httpGet: defaultHttpGet(probe.httpGet) }),
    ...(probe.grpc && { grpc: { ...probe.grpc, service: probe.grpc.service ?? '' } }),
  }
}

function defaultLifecycle(lifecycle: Lifecycle): Lifecycle {
  return {
    ...lifecycle,
    ...(lifecycle.postStart && { postStart: defaultHandler(lifecycle.postStart) }),
    ...(lifecycle.preStop && { preStop: defaultHandler(lifecycle.preStop) }),
  }
}

function defaultHandler(handler: LifecycleHandler): LifecycleHandler {
  return handler.httpGet === undefined ? handler : { ...handler, httpGet: defaultHttpGet(handler.httpGet) }
}

function defaultHttpGet(action: HTTPGetAction): HTTPGetAction {
  return { ...action, path: action.path || '/', scheme: action.scheme || 'HTTP' }
}
