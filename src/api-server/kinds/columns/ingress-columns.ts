import type { Ingress, IngressClass, IngressRule } from '../../../model/generated/api-groups.ts'
import { isDefaultIngressClass } from '../../../model/networking/ingress-classes.ts'
import type { ObjectOf } from '../../store/api-object.ts'
import { ageOf, columnsOf } from '../table-columns.ts'
import type { TableColumns } from '../table-columns.ts'

const MOST_HOSTS = 3
// What is longer is cut, as upstream does where the table is not a wide one.
const ADDRESS_WIDTH = 16

/** The rows of `kubectl get ingresses`. */
export const ingressColumns: TableColumns<ObjectOf<Ingress>> = {
  columns: columnsOf('Name', 'Class', 'Hosts', 'Address', 'Ports', 'Age'),
  cells: (ingress, now) => [
    ingress.metadata.name ?? '',
    ingress.spec?.ingressClassName ?? '<none>',
    hostsOf(ingress.spec?.rules ?? []),
    addressOf(ingress),
    (ingress.spec?.tls ?? []).length > 0 ? '80, 443' : '80',
    ageOf(ingress, now),
  ],
}

/** The rows of `kubectl get ingressclasses`. */
export const ingressClassColumns: TableColumns<ObjectOf<IngressClass>> = {
  columns: columnsOf('Name', 'Controller', 'Parameters', 'Age'),
  cells: (object, now) => {
    const { controller = '', parameters } = object.spec ?? {}
    const group = parameters?.apiGroup === undefined ? '' : `.${parameters.apiGroup}`
    return [
      `${object.metadata.name ?? ''}${isDefaultIngressClass(object) ? ' (default)' : ''}`,
      controller,
      parameters === undefined ? '<none>' : `${parameters.kind}${group}/${parameters.name}`,
      ageOf(object, now),
    ]
  },
}

function hostsOf(rules: readonly IngressRule[]): string {
  const hosts = rules.flatMap(({ host }) => host || [])
  if (hosts.length === 0) return '*'
  const shown = hosts.slice(0, MOST_HOSTS).join(',')
  // Upstream counts rules here, not hosts.
  return hosts.length > MOST_HOSTS ? `${shown} + ${rules.length - MOST_HOSTS} more...` : shown
}

function addressOf({ status }: Ingress): string {
  const addresses = (status?.loadBalancer?.ingress ?? []).flatMap(({ ip, hostname }) => ip || hostname || [])
  const text = [...new Set(addresses)].toSorted().join(',')
  return text.length > ADDRESS_WIDTH ? `${text.slice(0, ADDRESS_WIDTH - 3)}...` : text
}
