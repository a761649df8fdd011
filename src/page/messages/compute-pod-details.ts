import type { Container, Pod, Probe, Service, Volume } from '../../model/generated/core-v1.ts'
import { tryParseQuantity } from '../../model/resources/quantity.ts'

/** Cores, or bytes; undefined where nothing is requested, or nothing limits. */
export interface ResourceBounds {
  readonly request: number | undefined
  readonly limit: number | undefined
}

/** A probe as the pod asks for it. */
export interface ProbeSpec {
  readonly container: string
  readonly type: 'startup' | 'readiness' | 'liveness'
  /** Whom it asks what. */
  readonly question: string
  /** How often, how long, and how many answers it takes. */
  readonly terms: string
}

/** A volume, and where containers have it. */
interface MountedVolume {
  readonly name: string
  /** Its kind and what it is made of. */
  readonly source: string
  readonly mounts: readonly { readonly container: string; readonly path: string; readonly note: string }[]
}

/** A way to a port of a pod. */
export interface PortWay {
  readonly container: string
  readonly name: string
  readonly port: number
  readonly protocol: string
  /** Addresses of this machine that lead there, with what makes them do so. */
  readonly links: readonly { readonly address: string; readonly by: string }[]
}

const NANOS = 1e9

/** What all containers of a pod that run at once request and may use. */
export function computeBounds({ spec }: Pod, resource: 'cpu' | 'memory'): ResourceBounds {
  const containers: readonly Pick<Container, 'resources'>[] = [
    ...(spec?.containers ?? []),
    ...sidecarsOf(spec?.initContainers),
  ]
  const sum = (kind: 'requests' | 'limits') => {
    const own = toNumber(spec?.resources?.[kind]?.[resource])
    if (own !== undefined) return own
    const values = containers.map(({ resources }) => toNumber(resources?.[kind]?.[resource]))
    // One without a limit may use all there is.
    if (kind === 'limits' && values.includes(undefined)) return undefined
    const known = values.filter((value) => value !== undefined)
    return known.length === 0 ? undefined : known.reduce((all, value) => all + value, 0)
  }
  return { request: sum('requests'), limit: sum('limits') }
}

function sidecarsOf(inits: readonly Container[] = []): readonly Container[] {
  return inits.filter(({ restartPolicy }) => restartPolicy === 'Always')
}

function toNumber(quantity: string | undefined): number | undefined {
  const parsed = quantity === undefined ? undefined : tryParseQuantity(quantity)
  return parsed === undefined ? undefined : Number(parsed.nanos) / NANOS
}

export function listProbes({ spec }: Pod): readonly ProbeSpec[] {
  return [...sidecarsOf(spec?.initContainers), ...(spec?.containers ?? [])].flatMap((container) => {
    const probes = [
      ['startup', container.startupProbe],
      ['readiness', container.readinessProbe],
      ['liveness', container.livenessProbe],
    ] as const
    return probes.flatMap(([type, probe]) =>
      probe === undefined
        ? []
        : [{ container: container.name, type, question: describeQuestion(probe), terms: describeTerms(probe) }],
    )
  })
}

function describeQuestion({ exec, httpGet, tcpSocket, grpc }: Probe): string {
  if (exec !== undefined) return `runs ${(exec.command ?? []).join(' ')}`
  if (httpGet !== undefined) {
    const { scheme = 'HTTP', host = '', port, path = '/' } = httpGet
    return `GET ${scheme.toLowerCase()}://${host || 'the pod'}:${String(port)}${path}`
  }
  if (tcpSocket !== undefined) return `connects to ${tcpSocket.host || 'the pod'}:${String(tcpSocket.port)}`
  return grpc === undefined
    ? 'nothing'
    : `gRPC health check on port ${grpc.port}${grpc.service ? ` of ${grpc.service}` : ''}`
}

function describeTerms(probe: Probe): string {
  const { periodSeconds = 10, timeoutSeconds = 1, failureThreshold = 3, successThreshold = 1 } = probe
  const parts = [
    `every ${periodSeconds} s`,
    `at most ${timeoutSeconds} s`,
    ...(probe.initialDelaySeconds ? [`from ${probe.initialDelaySeconds} s on`] : []),
    `bad after ${failureThreshold}`,
    ...(successThreshold > 1 ? [`good after ${successThreshold}`] : []),
  ]
  return parts.join(', ')
}

export function listVolumes({ spec }: Pod): readonly MountedVolume[] {
  const containers = [
    ...(spec?.initContainers ?? []),
    ...(spec?.containers ?? []),
    ...(spec?.ephemeralContainers ?? []),
  ]
  return (spec?.volumes ?? []).map((volume) => ({
    name: volume.name,
    source: describeVolume(volume),
    mounts: containers.flatMap(({ name, volumeMounts = [], volumeDevices = [] }) => [
      ...volumeMounts
        .filter((mount) => mount.name === volume.name)
        .map((mount) => {
          const part = mount.subPath || mount.subPathExpr
          const note = [...(mount.readOnly === true ? ['read-only'] : []), ...(part ? [`only ${part}`] : [])]
          return { container: name, path: mount.mountPath, note: note.join(', ') }
        }),
      ...volumeDevices
        .filter((device) => device.name === volume.name)
        .map(({ devicePath }) => ({ container: name, path: devicePath, note: 'device' })),
    ]),
  }))
}

function describeVolume(volume: Volume): string {
  const kind = Object.keys(volume).find((key) => key !== 'name') ?? 'emptyDir'
  const { emptyDir, hostPath, configMap, secret, persistentVolumeClaim, nfs, image, csi, projected } = volume
  const details = [
    emptyDir === undefined
      ? []
      : [emptyDir.medium || [], emptyDir.sizeLimit === undefined ? [] : `at most ${emptyDir.sizeLimit}`].flat(),
    hostPath?.path ?? [],
    configMap?.name ?? [],
    secret?.secretName ?? [],
    persistentVolumeClaim?.claimName ?? [],
    nfs === undefined ? [] : `${nfs.server}:${nfs.path}`,
    image?.reference ?? [],
    csi?.driver ?? [],
    (projected?.sources ?? []).flatMap((source) => Object.keys(source)),
  ]
  return [kind, ...details.flat()].join(' ')
}

/** The ports of a pod: those that it declares, and those that services lead to. */
export function listPorts({ metadata = {}, spec, status = {} }: Pod, services: readonly Service[]): readonly PortWay[] {
  const labels = metadata.labels ?? {}
  const own = services.filter(({ spec: { selector = {} } = {} }) => {
    const wanted = Object.entries(selector)
    return wanted.length > 0 && wanted.every(([key, value]) => labels[key] === value)
  })
  const host = status.hostIP ?? ''
  const declared = [...sidecarsOf(spec?.initContainers), ...(spec?.containers ?? [])].flatMap(({ name, ports = [] }) =>
    ports.map((port) => ({
      container: name,
      name: port.name ?? '',
      port: port.containerPort,
      protocol: port.protocol ?? 'TCP',
      hostPort: port.hostPort,
      hostIp: port.hostIP,
    })),
  )
  const led = own.flatMap((service) =>
    (service.spec?.ports ?? []).flatMap(({ port, targetPort = port, nodePort, protocol = 'TCP', name = '' }) => {
      const target =
        typeof targetPort === 'number' ? targetPort : declared.find((each) => each.name === targetPort)?.port
      return target === undefined ? [] : [{ service, target, port, nodePort, protocol, name }]
    }),
  )
  const undeclared = led.filter(
    ({ target, protocol }) => !declared.some((each) => each.port === target && each.protocol === protocol),
  )
  const rows = [
    ...declared,
    ...new Map(undeclared.map((each) => [`${each.target} ${each.protocol}`, each]))
      .values()
      .map(({ target, protocol, name }) => ({
        container: '',
        name,
        port: target,
        protocol,
        hostPort: undefined,
        hostIp: undefined,
      })),
  ]
  return rows.map(({ hostPort, hostIp = '', ...row }) => {
    const isOpen = (hostPort ?? 0) > 0
    const hostAddress = ['', '0.0.0.0', '::'].includes(hostIp) ? host : hostIp
    const links = [
      ...(isOpen && hostAddress !== '' ? [{ address: toAddress(hostAddress, hostPort ?? 0), by: 'host port' }] : []),
      ...led
        .filter(({ target, protocol }) => target === row.port && protocol === row.protocol)
        .flatMap(({ service, port, nodePort }) => {
          const by = `service ${service.metadata?.name ?? ''}`
          const balanced = (service.status?.loadBalancer?.ingress ?? []).flatMap(({ ip }) => ip ?? [])
          const cluster = service.spec?.clusterIP ?? ''
          return [
            ...(nodePort === undefined || host === ''
              ? []
              : [{ address: toAddress(host, nodePort), by: `${by}, node port` }]),
            ...balanced.map((ip) => ({ address: toAddress(ip, port), by: `${by}, load balancer` })),
            ...(cluster === '' || cluster === 'None' ? [] : [{ address: toAddress(cluster, port), by }]),
          ]
        }),
    ]
    return { ...row, links }
  })
}

function toAddress(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}
