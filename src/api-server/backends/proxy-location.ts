import { BlockList, isIPv4 } from 'node:net'
import { badRequest, notFound } from '../api-error.ts'
import type { ObjectReader } from '../kinds/object-reader.ts'
import { findKubeletEndpoint } from './kubelet-endpoint.ts'

/** A port of a pod or node that requests are passed on to. */
export interface PortLocation {
  readonly kind: 'port'
  readonly address: string
  readonly port: number
  readonly isTls: boolean
}

const HTTP_PORT = 80
const HTTPS_PORT = 443
const SCHEMES = ['', 'http', 'https']

// Addresses that only mean something on the machine itself, such as the port of the API.
const local = new BlockList()
local.addSubnet('0.0.0.0', 8, 'ipv4')
local.addSubnet('127.0.0.0', 8, 'ipv4')
local.addSubnet('169.254.0.0', 16, 'ipv4')
local.addSubnet('224.0.0.0', 4, 'ipv4')
local.addAddress('255.255.255.255', 'ipv4')
local.addAddress('::', 'ipv6')
local.addAddress('::1', 'ipv6')
local.addSubnet('fe80::', 10, 'ipv6')
local.addSubnet('ff00::', 8, 'ipv6')

/** Where "[SCHEME:]POD[:PORT]" listens. Throws an ApiError when there is no such pod, or it has no address of its own. */
export function findPodLocation(objects: ObjectReader, namespace: string, id: string): PortLocation {
  const { scheme, name, port } = parseId('pod', id)
  const pod = objects.get({ resource: 'pods', namespace, name })
  if (pod === undefined) throw notFound({ group: '', resource: 'pods', name })
  const address = pod.status?.podIPs?.[0]?.ip ?? pod.status?.podIP ?? ''
  if (address === '' || isLocal(address)) throw badRequest('address not allowed')
  const first = pod.spec?.containers.flatMap((container) => container.ports ?? [])[0]?.containerPort
  const isTls = scheme === 'https'
  return { kind: 'port', address, port: port ?? first ?? (isTls ? HTTPS_PORT : HTTP_PORT), isTls }
}

/** Where "[SCHEME:]NODE[:PORT]" is: its kubelet, or another port of it. */
export function findNodeLocation(
  objects: ObjectReader,
  id: string,
): PortLocation | { readonly kind: 'kubelet'; readonly node: string } {
  const { scheme, name, port } = parseId('node', id)
  if (port === undefined) return { kind: 'kubelet', node: name }
  const { address, port: kubeletPort } = findKubeletEndpoint(objects, name)
  if (port === kubeletPort) return { kind: 'kubelet', node: name }
  if (isLocal(address)) throw badRequest('address not allowed')
  return { kind: 'port', address, port, isTls: scheme === 'https' }
}

function isLocal(address: string): boolean {
  return local.check(address, isIPv4(address) ? 'ipv4' : 'ipv6')
}

function parseId(kind: string, id: string) {
  const parts = id.split(':')
  const [scheme = '', name = '', port = ''] = parts.length === 3 ? parts : ['', ...parts]
  const number = /^\d{1,5}$/.test(port) ? Number(port) : undefined
  const isPort = port === '' || (number !== undefined && number > 0 && number < 65_536)
  if (parts.length > 3 || name === '' || !SCHEMES.includes(scheme) || !isPort) {
    throw badRequest(`invalid ${kind} request ${JSON.stringify(id.slice(0, 253))}`)
  }
  return { scheme, name, port: number }
}
