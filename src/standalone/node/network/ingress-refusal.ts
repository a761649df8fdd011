import type { UpOptions } from '../../arguments/up-options.ts'
import type { NodeRecord } from '../node-record.ts'
import { switchedOff } from '../switchable-parts.ts'

export const INGRESSES = 'ingresses.networking.k8s.io'

type Asked = Pick<UpOptions, 'ingressPorts' | 'without'>

export function hasIngress({ ingressPorts: { http, https } }: Pick<Asked, 'ingressPorts'>): boolean {
  return http !== undefined || https !== undefined
}

/** Why Ingresses are not served on this node; undefined when they are. */
export function findIngressRefusal({ ingressPorts, without }: Asked): string | undefined {
  const off = switchedOff(without).get(INGRESSES)
  if (off !== undefined) return off
  if (without.includes('services')) return 'this node runs without services, which an Ingress passes requests on to'
  if (hasIngress({ ingressPorts })) return undefined
  return 'this node has no port for it: start it with "deckhand up --ingress-http-port 80" or another one'
}

/** As in "HTTP on port 80, HTTPS on port 443". */
export function formatIngressPorts({ http, https }: NonNullable<NodeRecord['ingressPorts']>): string {
  const parts = [
    ...(http === undefined ? [] : [`HTTP on port ${http}`]),
    ...(https === undefined ? [] : [`HTTPS on port ${https}`]),
  ]
  return parts.join(', ')
}
