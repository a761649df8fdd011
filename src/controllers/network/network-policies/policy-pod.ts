import type { Namespace, Pod } from '../../../model/generated/core-v1.ts'
import type { IpFamily } from '../../../model/text/ip-number.ts'
import { parseIp } from '../../../model/text/ip-number.ts'
import type { Live } from '../../engine/live-object.ts'

type Labels = Readonly<Record<string, string>>

/** A pod with addresses of its own, as far as policies are concerned. */
export interface PolicyPod {
  readonly namespace: string
  readonly labels: Labels
  readonly namespaceLabels: Labels
  readonly addresses: readonly { readonly family: IpFamily; readonly text: string }[]
  /** Ports that have names. */
  readonly ports: readonly { readonly name: string; readonly protocol: string; readonly port: number }[]
}

/** Addresses that pods have got, by their uid, whether the API knows them or not. */
export type AttachedAddresses = ReadonlyMap<string, readonly string[]>

// The uid that the agent knows a static pod by.
const STATIC_UID = 'kubernetes.io/config.hash'

/**
 * The pods that policies are about. Those on the host's network are the node itself, and those that are terminal have no network; one that is
 * ending still has. Of two with one address the later one counts: the other one has lost it.
 */
export function computePolicyPods(
  pods: readonly Live<Pod>[],
  namespaces: readonly Live<Namespace>[],
  attached: AttachedAddresses = new Map(),
): readonly PolicyPod[] {
  const labelsOf = new Map(namespaces.map(({ metadata }) => [metadata.name, metadata.labels ?? {}]))
  const owners = new Map<string, Live<Pod>>()
  const alive = pods.filter(({ spec, status }) => {
    const isOver = status?.phase === 'Succeeded' || status?.phase === 'Failed'
    return spec.hostNetwork !== true && !isOver
  })
  for (const pod of alive) {
    for (const address of addressesOf(pod)) {
      const other = owners.get(address)
      if (other === undefined || isLater(pod, other)) owners.set(address, pod)
    }
  }
  // What the API knows counts before what it does not know yet.
  for (const pod of alive) {
    for (const address of attachedTo(pod, attached)) if (!owners.has(address)) owners.set(address, pod)
  }
  return alive.flatMap((pod): readonly PolicyPod[] => {
    const all = new Set([...addressesOf(pod), ...attachedTo(pod, attached)])
    const addresses = [...all].flatMap((text) => {
      const family = parseIp(text)?.family
      return family === undefined || owners.get(text) !== pod ? [] : [{ family, text }]
    })
    if (addresses.length === 0) return []
    const { namespace, labels = {} } = pod.metadata
    const namespaceLabels = labelsOf.get(namespace) ?? {}
    return [{ namespace, labels, namespaceLabels, addresses, ports: portsOf(pod) }]
  })
}

function addressesOf({ status }: Live<Pod>): readonly string[] {
  const all = (status?.podIPs ?? []).map(({ ip }) => ip)
  return all.length > 0 || !status?.podIP ? all : [status.podIP]
}

function attachedTo({ metadata }: Live<Pod>, attached: AttachedAddresses): readonly string[] {
  return attached.get(metadata.annotations?.[STATIC_UID] ?? metadata.uid) ?? []
}

function isLater(pod: Live<Pod>, than: Live<Pod>): boolean {
  return (pod.metadata.creationTimestamp ?? '') > (than.metadata.creationTimestamp ?? '')
}

function portsOf({ spec }: Live<Pod>): PolicyPod['ports'] {
  const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always')
  return [...spec.containers, ...sidecars].flatMap(({ ports = [] }) =>
    ports.flatMap(({ name = '', protocol = 'TCP', containerPort }) =>
      name === '' ? [] : [{ name, protocol, port: containerPort }],
    ),
  )
}
