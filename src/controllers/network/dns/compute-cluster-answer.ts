import { formatIp, parseCidr, parseIp } from '../../../model/text/ip-number.ts'
import type { ClusterZone, ZoneEndpoint, ZoneRecord, ZoneService } from './cluster-zone.ts'

/** What the cluster says to a question; undefined when the name is not the cluster's. */
export interface ClusterAnswer {
  /** Whether the name exists, whatever it has. */
  readonly exists: boolean
  readonly records: readonly ZoneRecord[]
  readonly additionals: readonly ZoneRecord[]
  /** A name outside the cluster that stands for this one: its records are to be added. */
  readonly follow?: string
}

const NONE: ClusterAnswer = { exists: false, records: [], additionals: [] }
const NOTHING: ClusterAnswer = { exists: true, records: [], additionals: [] }
const SCHEMA_VERSION = '1.1.0'
const LONGEST_CHAIN = 8
const WEIGHT = 100

/** Names are compared in lower case; a record repeats the name as it was asked. */
export function computeClusterAnswer(zone: ClusterZone, asked: string, type: string): ClusterAnswer | undefined {
  const name = asked.toLowerCase().replace(/\.$/, '')
  const address = parseReverse(name)
  if (address !== undefined) return answerReverse(zone, address, { asked, type })
  if (name !== zone.domain && !name.endsWith(`.${zone.domain}`)) return undefined
  const labels = name === zone.domain ? [] : name.slice(0, -zone.domain.length - 1).split('.')
  return answerName(zone, labels, { asked, type }, 0)
}

interface Question {
  readonly asked: string
  readonly type: string
}

function answerName(zone: ClusterZone, labels: readonly string[], question: Question, depth: number): ClusterAnswer {
  const { asked, type } = question
  const kind = labels.at(-1)
  if (kind === undefined) {
    return type === 'NS' ? given([{ type: 'NS', name: asked, data: `ns.dns.${zone.domain}` }]) : NOTHING
  }
  if (kind === 'svc') return answerService(zone, labels.slice(0, -1), question, depth)
  if (kind === 'pod') return answerPod(zone, labels.slice(0, -1), question)
  if (kind === 'dns') {
    if (labels.length === 1) return NOTHING
    return labels.length === 2 && labels[0] === 'ns' ? addresses(question, [zone.serverAddress]) : NONE
  }
  if (kind !== 'dns-version' || labels.length > 1) return NONE
  return type === 'TXT' ? given([{ type: 'TXT', name: asked, data: SCHEMA_VERSION }]) : NOTHING
}

function given(records: readonly ZoneRecord[]): ClusterAnswer {
  return { exists: true, records, additionals: [] }
}

/** Those of the family that is asked for; a name with others only exists and has nothing to say. */
function addresses({ asked, type }: Question, all: readonly string[]): ClusterAnswer {
  const wanted = type === 'AAAA' ? 'IPv6' : type === 'A' || type === 'ANY' ? 'IPv4' : undefined
  const own = all.filter((address) => parseIp(address)?.family === wanted)
  return given(own.map((data) => ({ type: wanted === 'IPv6' ? 'AAAA' : 'A', name: asked, data })))
}

function answerService(zone: ClusterZone, labels: readonly string[], question: Question, depth: number): ClusterAnswer {
  const [namespace, name, ...rest] = labels.toReversed()
  if (namespace === undefined) return NOTHING
  if (!zone.namespaces.has(namespace)) return NONE
  if (name === undefined) return NOTHING
  const service = zone.services.get(`${namespace}/${name}`)
  if (service === undefined) return NONE
  if (service.externalName !== undefined)
    return rest.length === 0 ? answerExternal(zone, service.externalName, question, depth) : NONE
  const ready = service.endpoints.filter(({ isReady }) => isReady)
  const isHeadless = service.addresses.length === 0
  const full = `${name}.${namespace}.svc.${zone.domain}`
  if (rest.length === 0) {
    if (isHeadless && ready.length === 0) return NONE
    if (question.type === 'SRV') return answerPorts(full, service, question, () => true)
    return addresses(question, isHeadless ? distinct(ready) : service.addresses)
  }
  if (rest.length === 1) {
    const [label = ''] = rest
    if (label.startsWith('_')) return NONE
    const own = ready.filter((endpoint) => endpoint.label.toLowerCase() === label)
    return own.length === 0 ? NONE : addresses(question, distinct(own))
  }
  const [protocol = '', port = ''] = rest
  if (rest.length > 2 || !/^_(?:tcp|udp|sctp)$/.test(protocol) || !port.startsWith('_')) return NONE
  const isAsked = (each: { readonly name: string; readonly protocol: string }) =>
    each.name === port.slice(1) && each.protocol === protocol.slice(1)
  const answer = answerPorts(full, service, question, isAsked)
  if (answer.records.length === 0) return NONE
  return question.type === 'SRV' ? answer : NOTHING
}

function distinct(endpoints: readonly ZoneEndpoint[]): readonly string[] {
  return [...new Set(endpoints.map(({ address }) => address))]
}

/** Where named ports are: those of the service, or of each endpoint of a headless one. */
function answerPorts(
  full: string,
  { addresses: own, ports, endpoints }: ZoneService,
  { asked }: Question,
  isAsked: (port: { readonly name: string; readonly protocol: string }) => boolean,
): ClusterAnswer {
  const records = new Map<string, ZoneRecord>()
  const additionals = new Map<string, ZoneRecord>()
  const add = (port: number, target: string, targetAddresses: readonly string[]) => {
    records.set(`${port} ${target}`, { type: 'SRV', name: asked, data: { priority: 0, weight: WEIGHT, port, target } })
    for (const data of targetAddresses)
      additionals.set(`${target} ${data}`, { type: data.includes(':') ? 'AAAA' : 'A', name: target, data })
  }
  if (own.length > 0) for (const port of ports) if (port.name !== '' && isAsked(port)) add(port.port, full, own)
  if (own.length === 0) {
    for (const { address, label, isReady, ports: theirs } of endpoints) {
      for (const port of theirs)
        if (isReady && port.name !== '' && isAsked(port)) add(port.port, `${label}.${full}`, [address])
    }
  }
  return { exists: true, records: [...records.values()], additionals: [...additionals.values()] }
}

/** A name that stands for another; the chain ends when it is too long. */
function answerExternal(zone: ClusterZone, target: string, { asked, type }: Question, depth: number): ClusterAnswer {
  const alias: ZoneRecord = { type: 'CNAME', name: asked, data: target }
  if (type === 'CNAME' || depth >= LONGEST_CHAIN) return given([alias])
  if (target !== zone.domain && !target.endsWith(`.${zone.domain}`))
    return { exists: true, records: [alias], additionals: [], follow: target }
  const labels = target === zone.domain ? [] : target.slice(0, -zone.domain.length - 1).split('.')
  const next = answerName(zone, labels, { asked: target, type }, depth + 1)
  return { ...next, exists: true, records: [alias, ...next.records] }
}

function answerPod(zone: ClusterZone, labels: readonly string[], question: Question): ClusterAnswer {
  const [namespace, label, ...rest] = labels.toReversed()
  if (namespace === undefined) return NOTHING
  if (!zone.namespaces.has(namespace) || rest.length > 0) return NONE
  if (label === undefined) return NOTHING
  // "10-1-2-3"; the parts of an IPv6 address are joined in the same way.
  const address = parseIp(label.replaceAll('-', '.')) ?? parseIp(label.replaceAll('-', ':'))
  const text = address && formatIp(address)
  return text !== undefined && zone.pods.get(namespace)?.has(text) === true ? addresses(question, [text]) : NONE
}

function answerReverse(zone: ClusterZone, address: string, { asked, type }: Question): ClusterAnswer | undefined {
  const names = zone.names.get(address)
  if (names !== undefined) {
    return type === 'PTR' ? given(names.map((data) => ({ type: 'PTR', name: asked, data }))) : NOTHING
  }
  return zone.ranges.some((range) => isWithin(range, address)) ? NONE : undefined
}

function isWithin(range: string, address: string): boolean {
  const [cidr, ip] = [parseCidr(range), parseIp(address)]
  if (cidr === undefined || ip === undefined || cidr.base.family !== ip.family) return false
  return ip.value >= cidr.base.value && ip.value < cidr.base.value + (1n << BigInt(cidr.bits))
}

/** The address that a reverse name means; undefined for other names. */
function parseReverse(name: string): string | undefined {
  const four = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.in-addr\.arpa$/.exec(name)
  const six = /^((?:[0-9a-f]\.){32})ip6\.arpa$/.exec(name)
  const digits = six?.[1]?.replaceAll('.', '').split('').toReversed().join('')
  const text = four ? `${four[4]}.${four[3]}.${four[2]}.${four[1]}` : digits?.match(/.{4}/g)?.join(':')
  const ip = text === undefined ? undefined : parseIp(text)
  return ip && formatIp(ip)
}
