import type { Node } from '../../../model/generated/core-v1.ts'
import type { ObjectOf } from '../../store/api-object.ts'
import { ageOf, columnsOf } from '../table-columns.ts'
import type { TableColumns } from '../table-columns.ts'

const ROLE_LABEL = 'node-role.kubernetes.io/'
const OLD_ROLE_LABEL = 'kubernetes.io/role'

/** The rows of `kubectl get nodes`. */
export const nodeColumns: TableColumns<ObjectOf<Node>> = {
  columns: columnsOf(
    'Name',
    'Status',
    'Roles',
    'Age',
    'Version',
    'Internal-IP:wide',
    'External-IP:wide',
    'OS-Image:wide',
    'Kernel-Version:wide',
    'Container-Runtime:wide',
  ),
  cells: (node, now) => {
    const info = node.status?.nodeInfo
    return [
      node.metadata.name ?? '',
      statusOf(node),
      rolesOf(node),
      ageOf(node, now),
      info?.kubeletVersion ?? '',
      addressOf(node, 'InternalIP'),
      addressOf(node, 'ExternalIP'),
      info?.osImage || '<unknown>',
      kernelOf(node),
      info?.containerRuntimeVersion || '<unknown>',
    ]
  },
}

function kernelOf({ status }: Node): string {
  const { kernelVersion = '', architecture = '' } = status?.nodeInfo ?? {}
  if (kernelVersion === '') return '<unknown>'
  return architecture === '' ? kernelVersion : `${kernelVersion} (${architecture})`
}

function statusOf(node: Node): string {
  const ready = node.status?.conditions?.find(({ type }) => type === 'Ready')
  const word = ready === undefined ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady'
  return node.spec?.unschedulable === true ? `${word},SchedulingDisabled` : word
}

function rolesOf(node: Node): string {
  const roles = Object.entries(node.metadata?.labels ?? {}).flatMap(([key, value]) => {
    if (key.startsWith(ROLE_LABEL)) return key.length > ROLE_LABEL.length ? [key.slice(ROLE_LABEL.length)] : []
    return key === OLD_ROLE_LABEL && value !== '' ? [value] : []
  })
  return roles.length === 0 ? '<none>' : roles.sort().join(',')
}

function addressOf(node: Node, wanted: string): string {
  return node.status?.addresses?.find(({ type }) => type === wanted)?.address ?? '<none>'
}
