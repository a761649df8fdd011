import type { EndpointAddress, Endpoints, EndpointSubset, Service } from '../../../model/generated/core-v1.ts'
import type { Live } from '../../engine/live-object.ts'
import { computeSliceGroups } from './compute-slice-groups.ts'
import type { ServicePods } from './compute-slice-groups.ts'
import {
  ENDPOINTS_CONTROLLER,
  ENDPOINTS_MANAGED_BY_LABEL,
  HEADLESS_LABEL,
  isHeadless,
  withoutReserved,
} from './service-labels.ts'

const MOST_ADDRESSES = 1000
const OVER_CAPACITY = 'endpoints.kubernetes.io/over-capacity'

/** The older form of the slices of a service: one object, the first family alone, no pods that are being ended. */
export function computeEndpoints(pods: ServicePods): Pick<Endpoints, 'metadata' | 'subsets'> {
  const { service } = pods
  const all = subsetsOf(pods)
  const subsets = truncated(all)
  const labels = {
    ...withoutReserved(service.metadata.labels),
    [ENDPOINTS_MANAGED_BY_LABEL]: ENDPOINTS_CONTROLLER,
    ...(isHeadless(service) && { [HEADLESS_LABEL]: '' }),
  }
  const isCut = countOf(all) > countOf(subsets)
  return { metadata: { labels, ...(isCut && { annotations: { [OVER_CAPACITY]: 'truncated' } }) }, subsets }
}

function subsetsOf({ service, pods, nodes }: ServicePods): readonly EndpointSubset[] {
  const [family = 'IPv4'] = service.spec.ipFamilies ?? []
  const isKept = service.spec.publishNotReadyAddresses === true
  const single: Live<Service> = { ...service, spec: { ...service.spec, ipFamilies: [family] } }
  const listed = pods.filter(({ metadata }) => isKept || metadata.deletionTimestamp === undefined)
  return computeSliceGroups({ service: single, pods: listed, nodes })
    .filter(({ endpoints }) => endpoints.length > 0)
    .map(({ endpoints, ports }) => {
      const addresses = endpoints.map((endpoint) => ({
        isReady: endpoint.conditions?.ready === true,
        address: toAddress(endpoint),
      }))
      const sorted = (isReady: boolean) =>
        addresses
          .filter((each) => each.isReady === isReady)
          .map(({ address }) => address)
          .toSorted((a, b) => (a.ip < b.ip ? -1 : 1))
      const [ready, notReady] = [sorted(true), sorted(false)]
      return {
        ...(ready.length > 0 && { addresses: ready }),
        ...(notReady.length > 0 && { notReadyAddresses: notReady }),
        ...(ports.length > 0 && {
          ports: ports.map(({ name, port = 0, protocol, appProtocol }) => ({
            ...(name && { name }),
            port,
            protocol,
            ...(appProtocol !== undefined && { appProtocol }),
          })),
        }),
      }
    })
}

function toAddress({
  addresses: [ip = ''],
  hostname,
  nodeName,
  targetRef,
}: ReturnType<typeof computeSliceGroups>[number]['endpoints'][number]): EndpointAddress {
  return { ip, ...(hostname && { hostname }), ...(nodeName && { nodeName }), ...(targetRef && { targetRef }) }
}

/** The ready ones first: no more than readers of one object can bear. */
function truncated(subsets: readonly EndpointSubset[]): readonly EndpointSubset[] {
  if (countOf(subsets) <= MOST_ADDRESSES) return subsets
  let room = MOST_ADDRESSES
  const take = (list: readonly EndpointAddress[] = []) => {
    const taken = list.slice(0, room)
    room -= taken.length
    return taken
  }
  const ready = subsets.map(({ addresses }) => take(addresses))
  return subsets
    .map(({ notReadyAddresses, ports }, index) => {
      const [addresses = [], others] = [ready[index], take(notReadyAddresses)]
      return {
        ...(addresses.length > 0 && { addresses }),
        ...(others.length > 0 && { notReadyAddresses: others }),
        ...(ports && { ports }),
      }
    })
    .filter(({ addresses, notReadyAddresses }) => addresses !== undefined || notReadyAddresses !== undefined)
}

function countOf(subsets: readonly EndpointSubset[]): number {
  return subsets.reduce(
    (sum, { addresses = [], notReadyAddresses = [] }) => sum + addresses.length + notReadyAddresses.length,
    0,
  )
}
