import { TaskGroup } from '../../../base/async/task-group.ts'
import { Wakeup } from '../../../base/async/wakeup.ts'
import type { Namespace } from '../../../model/generated/core-v1.ts'
import { isAlreadyThere } from '../../engine/api-objects.ts'
import type { ApiObjects } from '../../engine/api-objects.ts'
import type { ControllerDeps } from '../../engine/controller-deps.ts'
import type { Controller } from '../../engine/controller.ts'
import { answerQuery } from './answer-query.ts'
import type { ClusterZone } from './cluster-zone.ts'
import { computeClusterZone } from './compute-cluster-zone.ts'
import { Forwarder } from './forwarder.ts'
import { serveDns } from './serve-dns.ts'
import type { ServeDnsOptions } from './serve-dns.ts'

export interface DnsOptions {
  /** Where it listens; an address of the machine. */
  readonly address: string
  readonly port: number
  /** As in "cluster.local". */
  readonly domain: string
  /** Those of services and pods. */
  readonly ranges: readonly string[]
  /** Servers that know other names; without ourselves. */
  readonly servers: () => Promise<readonly string[]>
  readonly random: () => number
  readonly onReady?: (port: number) => void
}

type DnsDeps = Pick<ControllerDeps, 'clock' | 'log' | 'services' | 'slices' | 'pods'> & {
  readonly namespaces: ApiObjects<Namespace>
}

const NAMESPACE = 'kube-system'
const NAME = 'kube-dns'
const LABELS = { 'k8s-app': NAME, 'kubernetes.io/name': 'CoreDNS' }

/** Answers pods that ask for names: those of services and pods itself, others by asking on. */
export function createDnsController(deps: DnsDeps, options: DnsOptions): Controller {
  const { clock, log, services, slices, pods, namespaces } = deps
  let zone: ClusterZone | undefined
  // Computed with the next question, so that many changes cost no more than one.
  for (const { known } of [services, slices, pods, namespaces])
    known.onChange(() => {
      zone = undefined
    })
  let isSynced = false
  const { domain, address, ranges, servers, random } = options
  const currentZone = () => {
    if (!isSynced) return undefined
    zone ??= computeClusterZone({
      domain,
      serverAddress: address,
      ranges,
      services: services.known.all(),
      slices: slices.known.all(),
      pods: pods.known.all(),
      namespaces: namespaces.known.all().map(({ metadata }) => metadata.name),
    })
    return zone
  }
  const forwarder = new Forwarder({ clock, servers, random })
  const answer: ServeDnsOptions['answer'] = (query, signal) =>
    answerQuery({ zone: currentZone, forwarder, random }, query, signal)
  const removed = new Wakeup()
  for (const { known } of [services, slices])
    known.onChange((after, before) => {
      const { namespace, name } = before?.metadata ?? {}
      if (after === undefined && namespace === NAMESPACE && name === NAME) removed.wake()
    })
  return {
    name: 'dns',
    async run(signal) {
      for (const objects of [services, slices, pods, namespaces]) await objects.untilSynced(signal)
      isSynced = true
      await using group = new TaskGroup(signal)
      group.run('service', (s) => keepPublished(deps, options, removed, s))
      group.run('server', (s) => serveDns({ ...options, clock, log, answer }, s))
      await group.join()
    },
  }
}

/** Makes the service, and again whenever it was removed. */
async function keepPublished(deps: DnsDeps, options: DnsOptions, removed: Wakeup, signal: AbortSignal): Promise<never> {
  const { clock, log } = deps
  for (;;) {
    await publish(deps, options, signal).catch((error: unknown) => {
      signal.throwIfAborted()
      log.warn('cannot make the service of DNS; pods find it without', { error })
    })
    await removed.wait({ clock, ms: undefined }, signal)
  }
}

/** The service that people and charts expect; it listens at its own address, so nothing is translated. */
async function publish({ services, slices }: DnsDeps, options: DnsOptions, signal: AbortSignal): Promise<void> {
  const { address, port } = options
  const ports = [
    { name: 'dns', port, protocol: 'UDP' },
    { name: 'dns-tcp', port, protocol: 'TCP' },
  ]
  const metadata = { name: NAME, namespace: NAMESPACE, labels: LABELS }
  try {
    if (services.known.get(NAMESPACE, NAME) === undefined)
      await services.create(NAMESPACE, { metadata, spec: { clusterIP: address, ports } }, signal)
    if (slices.known.get(NAMESPACE, NAME) !== undefined) return
    const labels = { ...LABELS, 'kubernetes.io/service-name': NAME }
    const endpoints = [{ addresses: [address], conditions: { ready: true } }]
    const slice = { metadata: { ...metadata, labels }, addressType: 'IPv4', endpoints, ports }
    await slices.create(NAMESPACE, slice, signal)
  } catch (error) {
    if (!isAlreadyThere(error)) throw error
  }
}
