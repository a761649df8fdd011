import type {
  ControllerRevision,
  DaemonSet,
  Deployment,
  PodDisruptionBudget,
  ReplicaSet,
  StatefulSet,
} from '../../../model/generated/api-groups.ts'
import type { PodTemplateSpec } from '../../../model/generated/core-v1.ts'
import type { ObjectOf } from '../../store/api-object.ts'
import { formatSelector } from '../rules/workloads/scale-subresource.ts'
import { ageOf, columnsOf, formatMap } from '../table-columns.ts'
import type { TableColumns } from '../table-columns.ts'

const WIDE = ['Containers:wide', 'Images:wide', 'Selector:wide']

/** The rows of `kubectl get deployments`. */
export const deploymentColumns: TableColumns<ObjectOf<Deployment>> = {
  columns: columnsOf('Name', 'Ready', 'Up-to-date:integer', 'Available:integer', 'Age', ...WIDE),
  cells: (object, now) => {
    const { spec, status } = object
    return [
      object.metadata.name ?? '',
      `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 1}`,
      status?.updatedReplicas ?? 0,
      status?.availableReplicas ?? 0,
      ageOf(object, now),
      ...templateCells(spec?.template),
      formatSelector(spec?.selector),
    ]
  },
}

/** The rows of `kubectl get replicasets`. */
export const replicaSetColumns: TableColumns<ObjectOf<ReplicaSet>> = {
  columns: columnsOf('Name', 'Desired:integer', 'Current:integer', 'Ready:integer', 'Age', ...WIDE),
  cells: (object, now) => {
    const { spec, status } = object
    return [
      object.metadata.name ?? '',
      spec?.replicas ?? 1,
      status?.replicas ?? 0,
      status?.readyReplicas ?? 0,
      ageOf(object, now),
      ...templateCells(spec?.template),
      formatSelector(spec?.selector),
    ]
  },
}

/** The rows of `kubectl get daemonsets`. */
export const daemonSetColumns: TableColumns<ObjectOf<DaemonSet>> = {
  columns: columnsOf(
    'Name',
    'Desired:integer',
    'Current:integer',
    'Ready:integer',
    'Up-to-date:integer',
    'Available:integer',
    'Node Selector',
    'Age',
    ...WIDE,
  ),
  cells: (object, now) => {
    const { spec, status } = object
    return [
      object.metadata.name ?? '',
      status?.desiredNumberScheduled ?? 0,
      status?.currentNumberScheduled ?? 0,
      status?.numberReady ?? 0,
      status?.updatedNumberScheduled ?? 0,
      status?.numberAvailable ?? 0,
      formatMap(spec?.template.spec?.nodeSelector),
      ageOf(object, now),
      ...templateCells(spec?.template),
      formatSelector(spec?.selector),
    ]
  },
}

/** The rows of `kubectl get statefulsets`. */
export const statefulSetColumns: TableColumns<ObjectOf<StatefulSet>> = {
  columns: columnsOf('Name', 'Ready', 'Age', 'Containers:wide', 'Images:wide'),
  cells: (object, now) => {
    const { spec, status } = object
    return [
      object.metadata.name ?? '',
      `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 1}`,
      ageOf(object, now),
      ...templateCells(spec?.template),
    ]
  },
}

/** The rows of `kubectl get poddisruptionbudgets`. */
export const disruptionBudgetColumns: TableColumns<ObjectOf<PodDisruptionBudget>> = {
  columns: columnsOf('Name', 'Min Available', 'Max Unavailable', 'Allowed Disruptions:integer', 'Age'),
  cells: (object, now) => [
    object.metadata.name ?? '',
    String(object.spec?.minAvailable ?? 'N/A'),
    String(object.spec?.maxUnavailable ?? 'N/A'),
    object.status?.disruptionsAllowed ?? 0,
    ageOf(object, now),
  ],
}

/** The rows of `kubectl get controllerrevisions`. */
export const controllerRevisionColumns: TableColumns<ObjectOf<ControllerRevision>> = {
  columns: columnsOf('Name', 'Controller', 'Revision:integer', 'Age'),
  cells: (object, now) => {
    const owner = object.metadata.ownerReferences?.find(({ controller }) => controller === true)
    const group = owner?.apiVersion.includes('/') === true ? `.${owner.apiVersion.split('/')[0]}` : ''
    const controller = owner === undefined ? '<none>' : `${owner.kind.toLowerCase()}${group}/${owner.name}`
    return [object.metadata.name ?? '', controller, Number(object.revision), ageOf(object, now)]
  },
}

/** Names and images of the containers. */
export function templateCells(template: PodTemplateSpec | undefined): readonly [string, string] {
  const containers = template?.spec?.containers ?? []
  return [containers.map(({ name }) => name).join(','), containers.map(({ image = '' }) => image).join(',')]
}
