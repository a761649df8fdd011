import type { Service, ServicePort } from '../../../model/generated/core-v1.ts'
import type { Pod } from '../../../model/pod/pod.ts'

const ALWAYS_KNOWN = { namespace: 'default', name: 'kubernetes' }

/** The variables that say where the services of a container's namespace are, and the API server always. */
export function computeServiceVariables(pod: Pod, services: readonly Service[]): ReadonlyMap<string, string> {
  const visible = new Map<string, Service>()
  const reachable = services.filter(({ spec }) => !['', 'None', undefined].includes(spec?.clusterIP))
  for (const service of reachable) {
    const { name, namespace } = service.metadata ?? {}
    if (name === ALWAYS_KNOWN.name && namespace === ALWAYS_KNOWN.namespace) visible.set(name, service)
  }
  if (pod.spec.enableServiceLinks === true) {
    for (const service of reachable) {
      const { name = '', namespace } = service.metadata ?? {}
      if (namespace === pod.metadata.namespace) visible.set(name, service)
    }
  }
  return new Map([...visible].flatMap(([name, service]) => variablesOf(name, service)))
}

function variablesOf(serviceName: string, { spec }: Service): (readonly [string, string])[] {
  const name = toVariableName(serviceName)
  const host = spec?.clusterIP ?? ''
  const ports = spec?.ports ?? []
  const [first] = ports
  if (first === undefined) return []
  const named = ports.filter((port) => port.name !== undefined && port.name !== '')
  return [
    [`${name}_SERVICE_HOST`, host],
    [`${name}_SERVICE_PORT`, `${first.port}`],
    ...named.map((port) => [`${name}_SERVICE_PORT_${toVariableName(port.name ?? '')}`, `${port.port}`] as const),
    [`${name}_PORT`, url(host, first)],
    ...ports.flatMap((port) => portVariables(name, host, port)),
  ]
}

function portVariables(name: string, host: string, port: ServicePort): (readonly [string, string])[] {
  const prefix = `${name}_PORT_${port.port}_${protocol(port).toUpperCase()}`
  return [
    [prefix, url(host, port)],
    [`${prefix}_PROTO`, protocol(port)],
    [`${prefix}_PORT`, `${port.port}`],
    [`${prefix}_ADDR`, host],
  ]
}

function toVariableName(text: string): string {
  return text.toUpperCase().replaceAll('-', '_')
}

function protocol({ protocol = 'TCP' }: ServicePort): string {
  return protocol.toLowerCase()
}

function url(host: string, port: ServicePort): string {
  return `${protocol(port)}://${host.includes(':') ? `[${host}]` : host}:${port.port}`
}
