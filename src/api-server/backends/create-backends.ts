import type { Clock } from '../../base/async/clock.ts'
import type { Pod } from '../../model/generated/core-v1.ts'
import { badRequest, notFound } from '../api-error.ts'
import type { ObjectReader } from '../kinds/object-reader.ts'
import { isTrue } from '../rest/request-info.ts'
import type { RequestInfo } from '../rest/request-info.ts'
import type { Backend, KubeletTls } from './backend.ts'
import { dialBackend, formatHost } from './dial-backend.ts'
import { findKubeletEndpoint } from './kubelet-endpoint.ts'
import { toLogQuery } from './log-query.ts'
import { findNodeLocation, findPodLocation } from './proxy-location.ts'

export interface BackendDeps {
  readonly objects: ObjectReader
  readonly clock: Clock
  readonly kubeletTls: () => KubeletTls
  /** Where kubelets listen; at the address that their Node reports when absent. */
  readonly kubeletAddress?: string | undefined
}

/** Knows where requests go that others answer. */
export interface Backends {
  /** Of a path of the kubelet of a node. */
  kubelet(node: string, path: string): Backend
  /** Of a subresource that is answered elsewhere; undefined for the log of a pod that is on no node yet. Throws an ApiError. */
  find(info: RequestInfo, headers: RequestHeaders): Backend | undefined
}

type RequestHeaders = Readonly<Record<string, string | undefined>>

// What a stream of the API is called at the kubelet.
const STREAM_FLAGS = { stdin: 'input', stdout: 'output', stderr: 'error', tty: 'tty' }
const DEFAULT_CONTAINER = 'kubectl.kubernetes.io/default-container'
const NEW_PROTOCOLS = ['v5.channel.k8s.io', 'SPDY/3.1+portforward.k8s.io']

/** The kubelets and pods that requests to pods and nodes are passed on to. */
export function createBackends(deps: BackendDeps): Backends {
  const kubelet = (node: string, path: string, isTrusted = false): Backend => {
    const { address, port } = findKubeletEndpoint(deps.objects, node, deps.kubeletAddress)
    const tls = { ...deps.kubeletTls(), ...(isTrusted && { rejectUnauthorized: false }) }
    const host = formatHost(address, port)
    return { host, path, connect: (signal) => dialBackend(deps.clock, { address, port, tls }, signal) }
  }
  return {
    kubelet,
    find(info, headers) {
      const { resource, subresource, query } = info
      if (subresource === 'proxy') return resource === 'nodes' ? nodeProxy(deps, kubelet, info) : podProxy(deps, info)
      const pod = findPod(deps.objects, info)
      const node = pod.spec?.nodeName ?? ''
      if (subresource === 'log') {
        const path = `containerLogs/${info.namespace}/${info.name}/${chooseContainer(pod, query.get('container') ?? '')}`
        const asked = toLogQuery(query, info.name)
        return node === ''
          ? undefined
          : kubelet(node, at(path, asked), isTrue(query.get('insecureSkipTLSVerifyBackend')))
      }
      const path = streamPath(info, pod)
      if (node === '') throw badRequest(`pod ${info.name} does not have a host assigned`)
      rejectUnknownProtocols(deps.objects, node, headers)
      return kubelet(node, path)
    },
  }
}

function findPod(objects: ObjectReader, { namespace, name }: RequestInfo): Pod {
  const pod = objects.get({ resource: 'pods', namespace, name })
  if (pod === undefined) throw notFound({ group: '', resource: 'pods', name })
  return pod
}

/** Which container of a pod is meant: the one asked for, the only one, or the one that the pod names itself. Throws BadRequest otherwise. */
function chooseContainer(pod: Pod, asked: string): string {
  const { name: podName = '', annotations } = pod.metadata ?? {}
  const { initContainers = [], containers = [], ephemeralContainers = [] } = pod.spec ?? {}
  const names = [...initContainers, ...containers, ...ephemeralContainers].map(({ name }) => name)
  if (asked !== '') {
    if (names.includes(asked)) return asked
    throw badRequest(`container ${asked.slice(0, 253)} is not valid for pod ${podName}`)
  }
  const [only, ...others] = containers
  if (only !== undefined && others.length === 0) return only.name
  const chosen = annotations?.[DEFAULT_CONTAINER]
  if (chosen !== undefined && names.includes(chosen)) return chosen
  throw badRequest(`a container name must be specified for pod ${podName}, choose one of: [${names.join(' ')}]`)
}

function streamPath({ namespace, name, subresource, query }: RequestInfo, pod: Pod): string {
  const asked = new URLSearchParams()
  if (subresource === 'portforward') {
    for (const port of query.getAll('ports')) asked.append('port', port)
    return at(`portForward/${namespace}/${name}`, asked)
  }
  const container = chooseContainer(pod, query.get('container') ?? '')
  for (const [flag, name] of Object.entries(STREAM_FLAGS)) if (isTrue(query.get(flag))) asked.set(name, '1')
  if (subresource === 'exec') for (const command of query.getAll('command')) asked.append('command', command)
  return at(`${subresource}/${namespace}/${name}/${container}`, asked)
}

function at(path: string, query: URLSearchParams): string {
  return query.size === 0 ? `/${path}` : `/${path}?${query.toString()}`
}

/** Clients whose newest protocols are rejected use the old ones, which every kubelet speaks. */
function rejectUnknownProtocols(objects: ObjectReader, node: string, headers: RequestHeaders): void {
  const offered = (headers['sec-websocket-protocol'] ?? '').split(',').map((each) => each.trim())
  const wanted = NEW_PROTOCOLS.find((protocol) => offered.includes(protocol))
  if (wanted === undefined || findKubeletEndpoint(objects, node).speaksWebSocket) return
  throw badRequest(`the kubelet of node "${node}" does not speak ${wanted} over WebSocket: use SPDY`)
}

function nodeProxy(deps: BackendDeps, kubelet: Backends['kubelet'], info: RequestInfo): Backend {
  const location = findNodeLocation(deps.objects, info.name)
  const path = restOf(info)
  return location.kind === 'kubelet' ? kubelet(location.node, path) : direct(deps.clock, location, path)
}

function podProxy(deps: BackendDeps, info: RequestInfo): Backend {
  return direct(deps.clock, findPodLocation(deps.objects, info.namespace, info.name), restOf(info))
}

function direct(
  clock: Clock,
  { address, port, isTls }: { readonly address: string; readonly port: number; readonly isTls: boolean },
  path: string,
): Backend {
  // Parity: there is no known authority for what runs in pods.
  const tls = isTls ? { tls: { rejectUnauthorized: false } } : {}
  const host = formatHost(address, port)
  return { host, path, connect: (signal) => dialBackend(clock, { address, port, ...tls }, signal) }
}

/** What is asked for behind the proxy, as it was written. */
function restOf({ rest, rawQuery }: RequestInfo): string {
  return `${rest || '/'}${rawQuery === '' ? '' : `?${rawQuery}`}`
}
